#include "contend/routes/one_way/formulas.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/large_array.hpp"
#include "contend/routes/engines/balance.hpp"
#include "contend/routes/one_way/tree_formula.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

using Turn = std::uint16_t;

/// The leaves in the order in which hosts take turns, with what is known of each.
struct Order {
  std::vector<std::uint32_t> rank;    ///< by leaf
  std::vector<std::uint32_t> hosts;   ///< by rank
  std::vector<std::uint64_t> before;  ///< by rank, hosts on the leaves before
  std::vector<std::uint32_t> nth;     ///< by host, among those of its leaf
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  Order(const Fabric& fabric, const CompleteTree& tree, const Targets& targets)
      : rank(tree.leaves, kNone), nth(fabric.hosts(), kNone) {
    const std::vector<std::vector<HostId>> of_switch = hosts_by_port(fabric, targets);
    std::vector<SwitchId> leaves = by_hosts_and_guid(of_switch, targets);
    // Those whose hosts have no addresses take no turns.
    for (SwitchId leaf = 0; leaf < tree.leaves; ++leaf) {
      if (of_switch[leaf].empty()) leaves.push_back(leaf);
    }
    std::uint64_t count = 0;
    for (const SwitchId leaf : leaves) {
      const std::vector<HostId>& own = of_switch[leaf];
      rank[leaf] = static_cast<std::uint32_t>(hosts.size());
      hosts.push_back(static_cast<std::uint32_t>(own.size()));
      before.push_back(count);
      for (std::uint32_t k = 0; k < own.size(); ++k) nth[own[k]] = k;
      count += own.size();
    }
  }

  /// Whether the hosts of every leaf go round all cables up, so that they put off nobody's turn.
  bool goes_round(const CompleteTree& tree) const {
    return std::ranges::all_of(tree.steps, [&](const CompleteTree::Step& step) {
      const std::uint32_t ways = step.parents * step.links;
      return std::ranges::all_of(hosts, [&](std::uint32_t own) { return own % ways == 0; });
    });
  }
};

class BalancedTreeResolver final : public WrittenResolver<BalancedTreeResolver> {
 public:
  BalancedTreeResolver(const Fabric& fabric, const CompleteTree& tree, const Order& order,
                       const Places& places)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(),
                        std::max<std::size_t>(2 * tree.steps_between(fabric, places.hosts), 2)),
        fabric_(fabric),
        shared_(tree.shared()),
        steps_(tree.steps_between(fabric, places.hosts)),
        trees_(fabric, [this](SwitchId s, Place to) { return next(s, to); }, places) {
    for (std::size_t k = 0; k < steps_.size(); ++k) find_turns(tree, k, order);
    leaves_.resize(2 * steps_.size() * order.hosts.size());
    for (SwitchId leaf = 0; leaf < tree.leaves; ++leaf) tell_leaf(tree, order, leaf);
    places_.reserve((1 + steps_.size()) * places.hosts.size());
    for (const HostId host : places.hosts) {
      tell_place(order, order.rank[fabric.host_switch(host)], order.nth[host]);
    }
    tell_switches(tree, order);
    before_.clear();
    before_.shrink_to_fit();
  }

  bool tabled() const override { return false; }
  const RouteTrees* trees() const override { return &trees_; }
  std::size_t bytes() const override {
    return (places_.size() + leaves_.size()) * sizeof(std::uint32_t) +
           turns_.size() * sizeof(Turn) + at_.size() * sizeof(At);
  }

 private:
  friend WrittenResolver<BalancedTreeResolver>;

  struct Climb : CompleteTree::Step {
    std::uint32_t ways = 1;     ///< cables up from a switch
    std::uint64_t inverse = 0;  ///< of `links` by 2^32, for turns below 2^16
    std::size_t turns = 0;      ///< where those of its subtrees begin

    std::uint32_t parent(std::uint32_t turn) const {
      return static_cast<std::uint32_t>(turn * inverse >> 32);
    }
    /// Without a branch, which nothing could foretell.
    std::uint32_t later(std::uint32_t turn, std::uint32_t by) const {
      const std::uint32_t over = turn + by - ways;
      return over + (ways & (0U - (over >> 31)));
    }
  };

  /// What is known of a switch.
  struct At {
    std::uint32_t step;   ///< that leads up from it
    std::uint32_t plane;  ///< of those with the same leaves below
    std::uint32_t rank;   ///< of some leaf below
  };

  /// By leaf: the first channel up from the switches above it, for every step; what its own hosts
  /// put off the turns of later ones by, on its cables; then where the turns of its subtrees begin.
  const std::uint32_t* leaf(std::uint32_t rank) const {
    return leaves_.data() + 2 * steps_.size() * rank;
  }
  /// By place: the rank of its leaf; its turn among all hosts, for every step, with its turn among
  /// those of its subtree on the cables down in the upper half.
  const std::uint32_t* place(Place number) const {
    return places_.data() + (1 + steps_.size()) * number;
  }

  /// How many turns the hosts below each subtree put off what comes later, for leaves by rank; for
  /// leaves alone it is told with them.
  void find_turns(const CompleteTree& tree, std::size_t k, const Order& order) {
    const CompleteTree::Step& step = tree.steps[k];
    Climb& climb = steps_[k];
    climb = {step, step.parents * step.links, (std::uint64_t{1} << 32) / step.links + 1,
             turns_.size()};
    const std::size_t leaves = order.hosts.size();
    std::vector<std::uint32_t> subtree(leaves);
    for (SwitchId s = 0; s < leaves; ++s) subtree[order.rank[s]] = tree.subtree(k, s);
    std::vector<std::uint32_t> before(leaves / step.leaves, 0);
    for (std::size_t rank = 0; rank < leaves; ++rank) {
      std::uint32_t& count = before[subtree[rank]];
      before_.push_back(count);
      count += order.hosts[rank];
    }
    if (k == 0) return;
    turns_.resize(climb.turns + leaves / step.leaves * leaves);
    Turn* turn = turns_.data() + climb.turns;
    for (std::size_t own = 0; own < leaves / step.leaves; ++own) {
      std::uint32_t left = 0;
      for (std::size_t rank = 0; rank < leaves; ++rank) {
        *turn++ = static_cast<Turn>(left);
        if (subtree[rank] != own) continue;
        const std::uint32_t more = order.hosts[rank] % climb.ways;
        left = left >= more ? left - more : left + climb.ways - more;
      }
    }
  }

  void tell_leaf(const CompleteTree& tree, const Order& order, SwitchId number) {
    const std::uint32_t rank = order.rank[number];
    std::uint32_t* const told = leaves_.data() + 2 * steps_.size() * rank;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const CompleteTree::Step& step = tree.steps[k];
      const std::uint32_t subtree = tree.subtree(k, number), ways = steps_[k].ways;
      told[k] = 2 * (step.first_cable + subtree * step.cables());
      told[steps_.size() + k] =
          k == 0 ? (ways - order.hosts[rank] % ways) % ways
                 : static_cast<std::uint32_t>(steps_[k].turns + std::size_t{subtree} * tree.leaves);
    }
  }

  void tell_place(const Order& order, std::uint32_t rank, std::uint32_t nth) {
    const std::size_t leaves = order.hosts.size();
    places_.push_back(rank);
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const Climb& climb = steps_[k];
      const auto turn = static_cast<std::uint32_t>((order.before[rank] + nth) % climb.ways);
      const std::uint32_t among_own = before_[k * leaves + rank] + nth;
      places_.push_back(turn | among_own % climb.ways_down() << 16);
    }
  }

  void tell_switches(const CompleteTree& tree, const Order& order) {
    const auto count = static_cast<std::uint32_t>(steps_.size());
    std::vector<SwitchId> leaf_at(tree.leaves);
    for (SwitchId leaf = 0; leaf < tree.leaves; ++leaf) leaf_at[tree.place[leaf]] = leaf;
    at_.resize(fabric_.switches(), {count, 0, 0});
    for (std::uint32_t k = 0; k <= count; ++k) {
      const bool top = k == tree.steps.size();
      const SwitchId first = top ? tree.top : tree.steps[k].first;
      const std::uint32_t leaves = top ? tree.leaves : tree.steps[k].leaves;
      const std::uint32_t planes = k == 0 ? 1 : tree.steps[k - 1].planes_above();
      for (std::uint32_t i = 0; i < tree.leaves / leaves * planes; ++i) {
        at_[first + i] = {k, i % planes, order.rank[k == 0 ? i : leaf_at[i / planes * leaves]]};
      }
    }
  }

  /// The turn of a place on a step up from the subtree of a leaf that it is not below.
  std::uint32_t turn(std::size_t k, const Climb& climb, std::uint32_t rank,
                     const std::uint32_t* own, std::size_t steps, const std::uint32_t* to) const {
    const std::uint32_t late = own[steps] & (0U - (rank < to[0] ? 1U : 0U));
    return climb.later(to[1 + k] & 0xFFFF, k == 0 ? late : turns_[own[steps + k] + to[0]]);
  }

  Step next(SwitchId s, Place target) const {
    const At& at = at_[s];
    const std::size_t k = at.step;
    const std::uint32_t* const to = place(target);
    const std::uint32_t* const own = leaf(at.rank);
    const std::uint32_t* const other = leaf(to[0]);
    if (k < steps_.size() && own[k] != other[k]) {
      const Climb& climb = steps_[k];
      const std::uint32_t way = turn(k, climb, at.rank, own, steps_.size(), to);
      return by(own[k] + 2 * (at.plane * climb.ways + way));
    }
    if (k == 0) return {kNoChannel, TraceEnd::delivered};
    return by(other[k - 1] + 2 * steps_[k - 1].cable_down(at.plane, to[k] >> 16) + 1);
  }
  Step by(ChannelId channel) const { return {channel, fabric_.channel_to(channel)}; }

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* channels) const {
    if (shared_) return write_shared(source, target, channels);
    const bool single = std::ranges::all_of(steps_, [](const Climb& c) { return c.links == 1; });
    switch (steps_.size()) {
      case 1:
        return single ? write_steps<1, true>(source, target, channels)
                      : write_steps<1, false>(source, target, channels);
      case 2:
        return single ? write_steps<2, true>(source, target, channels)
                      : write_steps<2, false>(source, target, channels);
      default:
        return write_steps<0, false>(source, target, channels);
    }
  }

  /// What lies below a common switch is padding, in the middle of the route. `Steps` is 0 for any
  /// number; `Single` says that no cables are parallel, which then cost nothing.
  template <std::size_t Steps, bool Single, class Out>
  void write_steps(std::span<const Place> source, std::span<const Place> target, Out* route) const {
    const std::size_t steps = Steps > 0 ? Steps : steps_.size();
    // What is written could be any of these, as far as the compiler knows.
    std::array<Climb, std::max<std::size_t>(Steps, 1)> known;
    std::copy_n(steps_.begin(), Steps, known.begin());
    const Climb* const climbs = Steps > 0 ? known.data() : steps_.data();
    const std::uint32_t* const places = places_.data();
    const std::uint32_t* const leaves = leaves_.data();
    const Turn* const turns = turns_.data();
    const auto pads = static_cast<std::uint32_t>(switch_channels());
    const std::size_t length = std::max<std::size_t>(2 * steps, 2);
    std::array<std::uint32_t, kTogether> rank;
    std::array<const std::uint32_t*, kTogether> place;
    for (std::size_t begin = 0; begin < source.size(); begin += kTogether) {
      const std::size_t count = std::min(kTogether, source.size() - begin);
      for (std::size_t m = 0; m < count; ++m) {
        rank[m] = places[(1 + steps) * source[begin + m]];
        place[m] = places + (1 + steps) * target[begin + m];
        __builtin_prefetch(place[m]);
      }
      for (std::size_t m = 0; m < count; ++m, route += length) {
        const std::uint32_t from = rank[m];
        const std::uint32_t* const to = place[m];
        const std::uint32_t* const own = leaves + 2 * steps * from;
        const std::uint32_t* const other = leaves + 2 * steps * to[0];
        const auto pad = pads + static_cast<std::uint32_t>(m % kPads);
        // On one switch there is nothing but padding.
        if (steps == 0) route[0] = route[1] = static_cast<Out>(pad);
        std::uint32_t plane = 0;
        for (std::size_t k = 0; k < steps; ++k) {
          const Climb& climb = climbs[k];
          const std::uint32_t late =
              k == 0 ? own[steps] & (0U - (from < to[0] ? 1U : 0U)) : turns[own[steps + k] + to[0]];
          const std::uint32_t turn = climb.later(to[1 + k] & 0xFFFF, late);
          const std::uint32_t up = plane * climb.ways + turn;
          plane = Single ? up : plane * climb.parents + climb.parent(turn);
          const std::uint32_t down = Single ? up : plane * climb.links + (to[1 + k] >> 16);
          const bool over = own[k] != other[k];
          route[k] = static_cast<Out>(over ? own[k] + 2 * up : pad);
          route[length - 1 - k] = static_cast<Out>(over ? other[k] + 2 * down + 1 : pad);
        }
      }
    }
  }

  /// Where planes share parents, a route may come down by another plane than it went up.
  template <class Out>
  void write_shared(std::span<const Place> source, std::span<const Place> target,
                    Out* route) const {
    const std::size_t steps = steps_.size(), length = stride();
    for (std::size_t m = 0; m < source.size(); ++m, route += length) {
      const std::uint32_t from = place(source[m])[0];
      const std::uint32_t* const to = place(target[m]);
      const std::uint32_t* const own = leaf(from);
      const std::uint32_t* const other = leaf(to[0]);
      std::fill_n(route, length, static_cast<Out>(switch_channels() + m % kPads));
      std::uint32_t plane = 0;
      std::size_t k = 0;
      for (; k < steps && own[k] != other[k]; ++k) {
        const std::uint32_t up = plane * steps_[k].ways + turn(k, steps_[k], from, own, steps, to);
        route[k] = static_cast<Out>(own[k] + 2 * up);
        plane = steps_[k].plane_above(up);
      }
      while (k-- > 0) {
        const std::uint32_t down = steps_[k].cable_down(plane, to[1 + k] >> 16);
        route[length - 1 - k] = static_cast<Out>(other[k] + 2 * down + 1);
        plane = down / steps_[k].ways;
      }
    }
  }

  static constexpr std::size_t kTogether = 64;
  const Fabric& fabric_;
  const bool shared_;
  std::vector<Climb> steps_;
  std::vector<std::uint32_t> before_;  ///< by step and rank, hosts of its subtree on leaves before
  LargeArray<Turn> turns_;             ///< by step but the first, subtree and rank of a leaf
  LargeArray<std::uint32_t> leaves_;
  LargeArray<std::uint32_t> places_;
  std::vector<At> at_;  ///< by switch
  RouteTrees trees_;
};

}  // namespace

std::size_t turn_entries(const CompleteTree& tree) {
  std::size_t entries = 0;
  for (const CompleteTree::Step& step : tree.steps) {
    if (step.leaves > 1) entries += std::size_t{tree.leaves} / step.leaves * tree.leaves;
  }
  return entries;
}

std::unique_ptr<Resolver> make_balanced_tree_resolver(const Fabric& fabric,
                                                      const CompleteTree& tree,
                                                      const Targets& targets,
                                                      const Places& places) {
  tree.check(fabric, places.hosts);
  check_targets(fabric, targets);
  const Order order(fabric, tree, targets);
  for (const HostId host : places.hosts) {
    if (order.nth[host] == Order::kNone) {
      throw Error("host " + std::to_string(host) + " has no address");
    }
  }
  if (tree.shared() || !order.goes_round(tree)) {
    return std::make_unique<BalancedTreeResolver>(fabric, tree, order, places);
  }
  return make_tree_resolver(fabric, tree, places, [&](HostId host, std::span<std::uint32_t> turn) {
    const std::uint64_t number =
        order.before[order.rank[fabric.host_switch(host)]] + order.nth[host];
    for (std::size_t k = 0; k < turn.size(); ++k) {
      const CompleteTree::Step& step = tree.steps[k];
      turn[k] = static_cast<std::uint32_t>(number % (step.parents * step.links));
    }
  });
}

}  // namespace contend
