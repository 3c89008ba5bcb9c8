#include "contend/routes/drawn/hashed_resolver.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "contend/routes/ways/dragonfly_hops.hpp"
#include "contend/routes/ways/grid_hops.hpp"

namespace contend {

namespace {

/// `Hops` follow one flow: follow() writes the channels on its way and says how many, with memory
/// of their own that all flows use; longest() is how many any way has.
template <class Hops>
class HashedResolver final : public WrittenResolver<HashedResolver<Hops>> {
 public:
  HashedResolver(const Fabric& fabric, const Places& places, Hops hops, const Hashing& hashing)
      : WrittenResolver<HashedResolver>(places.hosts.size(), fabric.switch_channels(),
                                        std::max<std::size_t>(hops.longest(), 1) * hashing.flows,
                                        hashing.flows),
        hashing_(hashing),
        length_(this->stride() / hashing.flows),
        hosts_(places.hosts),
        hops_(std::move(hops)) {}

  bool tabled() const override { return false; }
  std::size_t bytes() const override { return hops_.bytes() + hosts_.size() * sizeof(HostId); }

 private:
  friend WrittenResolver<HashedResolver>;

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Out* channels) const {
    const Hashes hashes(draw, hashing_.alike);
    // Known when it is compiled, one flow costs what it did alone.
    if (hashing_.flows == 1) return write_flows<1>(source, target, hashes, channels);
    write_flows<0>(source, target, hashes, channels);
  }

  template <std::size_t Flows, class Out>
  void write_flows(std::span<const Place> source, std::span<const Place> target,
                   const Hashes& hashes, Out* channels) const {
    const std::size_t flows = Flows > 0 ? Flows : hashing_.flows;
    const std::size_t length = length_;
    typename Hops::Memory memory;
    for (std::size_t m = 0; m < source.size(); ++m) {
      for (std::size_t number = 0; number < flows; ++number, channels += length) {
        const std::uint64_t flow = hashes.of_flow(hosts_[source[m]], hosts_[target[m]], number);
        std::size_t hop = hops_.follow(source[m], target[m], hashes, flow, memory, channels);
        for (; hop < length; ++hop) {
          channels[hop] = static_cast<Out>(this->switch_channels() + (hop + 5 * m) % kPads);
        }
      }
    }
  }

  Hashing hashing_;
  std::size_t length_;  ///< of the longest way of a flow
  std::vector<HostId> hosts_;
  Hops hops_;
};

/// By sets of channels.
class SetHops {
 public:
  struct Memory {};

  SetHops(const Fabric& fabric, const Places& places, NextHops next)
      : switches_(fabric.switches()), to_(fabric.channel_ends()), next_(std::move(next)) {
    for (const HostId host : places.hosts) at_.push_back(fabric.host_switch(host));
  }

  std::size_t longest() const { return next_.hops; }
  std::size_t bytes() const {
    return (next_.set_of.size() + next_.first.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size()) * sizeof(ChannelId);
  }

  template <class Out>
  std::size_t follow(Place source, Place target, const Hashes& hashes, std::uint64_t flow, Memory&,
                     Out* channels) const {
    const SwitchId end = at_[target];
    const std::uint32_t* sets = next_.set_of.data() + next_.row_of[target] * switches_;
    std::size_t hop = 0;
    for (SwitchId s = at_[source]; s != end; ++hop) {
      const std::span<const ChannelId> set = next_.of_set(sets[s]);
      const ChannelId channel = set[hashes.choose(flow, s, set.size())];
      channels[hop] = static_cast<Out>(channel);
      s = to_[channel];
    }
    return hop;
  }

 private:
  std::size_t switches_;
  std::vector<SwitchId> at_;  ///< switch of every place
  std::vector<SwitchId> to_;  ///< where every channel ends
  NextHops next_;
};

/// Where a formula tells what leads nearer, in order of ports: the same number of channels at every
/// switch, in the same order.
template <class Formula>
class FormulaHops {
 public:
  using Memory = typename Formula::Ways;

  FormulaHops(const Fabric& fabric, const Places& places, Formula formula)
      : formula_(std::move(formula)), longest_(formula_.longest(fabric, places.hosts)) {
    for (const HostId host : places.hosts) at_.push_back(formula_.at(fabric.host_switch(host)));
  }

  std::size_t longest() const { return longest_; }
  std::size_t bytes() const { return formula_.bytes() + at_.size() * sizeof(at_[0]); }

  template <class Out>
  std::size_t follow(Place source, Place target, const Hashes& hashes, std::uint64_t flow,
                     Memory& ways, Out* channels) const {
    std::size_t hop = 0;
    for (auto at = at_[source]; at != at_[target]; ++hop) {
      formula_.find(at, at_[target], ways);
      const auto way = ways[hashes.choose(flow, formula_.switch_of(at), ways.size())];
      const auto step = formula_.step(at, way);
      channels[hop] = static_cast<Out>(step.channel);
      at = step.to;
    }
    return hop;
  }

 private:
  Formula formula_;
  std::size_t longest_;
  std::vector<typename Formula::At> at_;  ///< switch of every place
};

/// On a complete tree: all cables up lead nearer to what is not below, and all parallel ones down
/// to what is.
class TreeHops {
 public:
  struct Memory {};

  TreeHops(const Fabric& fabric, const Places& places, const CompleteTree& tree)
      : steps_(tree.steps.begin(),
               tree.steps.begin() +
                   static_cast<std::ptrdiff_t>(tree.steps_between(fabric, places.hosts))) {
    for (const HostId host : places.hosts) {
      const SwitchId leaf = fabric.host_switch(host);
      for (std::size_t k = 0; k < steps_.size(); ++k) {
        const CompleteTree::Step& step = steps_[k];
        words_.push_back(2 * (step.first_cable + tree.subtree(k, leaf) * step.cables()));
        const bool last = k + 1 == tree.steps.size();
        const SwitchId first = last ? tree.top : tree.steps[k + 1].first;
        const std::uint32_t set = last ? 0 : tree.place[leaf] / tree.steps[k + 1].leaves;
        words_.push_back(first + set * step.planes_above());
      }
      words_.push_back(leaf);
    }
  }

  std::size_t longest() const { return 2 * steps_.size(); }
  std::size_t bytes() const { return words_.size() * sizeof(std::uint32_t); }

  /// Up by any cable until the target is below, and down by any that lead there.
  template <class Out>
  std::size_t follow(Place source, Place target, const Hashes& hashes, std::uint64_t flow, Memory&,
                     Out* route) const {
    const std::uint32_t* const from = of(source);
    const std::uint32_t* const to = of(target);
    std::size_t hops = 0;
    std::size_t k = 0;
    std::uint32_t plane = 0;
    SwitchId at = from[2 * steps_.size()];
    for (; k < steps_.size() && from[2 * k] != to[2 * k]; ++k) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t ways = step.parents * step.links;
      const auto way = static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among = plane * ways + way;
      route[hops++] = static_cast<Out>(from[2 * k] + 2 * among);
      // Most have one cable to each parent: a division would take as long as the hash.
      plane = step.sharing > 1 ? step.plane_above(among)
              : step.links > 1 ? among / step.links
                               : among;
      at = from[2 * k + 1] + plane;
    }
    while (k-- > 0) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t ways = step.ways_down();
      // Most have one way: no hash is needed to choose it.
      const auto way = ways == 1 ? 0 : static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among =
          step.sharing == 1 ? plane * step.links + way : step.cable_down(plane, way);
      route[hops++] = static_cast<Out>(to[2 * k] + 2 * among + 1);
      if (k == 0) break;
      plane = among / (step.parents * step.links);
      at = to[2 * k - 1] + plane;
    }
    return hops;
  }

 private:
  /// For each step the first of the channels up from the switches above a place's leaf, and the
  /// first of the switches that these lead to; then the leaf.
  const std::uint32_t* of(Place place) const {
    return words_.data() + (2 * steps_.size() + 1) * place;
  }

  std::vector<CompleteTree::Step> steps_;  ///< that places need
  std::vector<std::uint32_t> words_;       ///< by place, see of()
};

template <class Hops>
std::unique_ptr<Resolver> make(const Fabric& fabric, const Places& places, Hops hops,
                               const Hashing& hashing) {
  return std::make_unique<HashedResolver<Hops>>(fabric, places, std::move(hops), hashing);
}

}  // namespace

std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               NextHops next, const Hashing& hashing) {
  return make(fabric, places, SetHops(fabric, places, std::move(next)), hashing);
}

std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               const Topology& topology, const Hashing& hashing) {
  if (const auto* const tree = std::get_if<const CompleteTree*>(&topology)) {
    return make(fabric, places, TreeHops(fabric, places, **tree), hashing);
  }
  if (const auto* const dragonfly = std::get_if<const Dragonfly*>(&topology)) {
    return make(fabric, places,
                FormulaHops(fabric, places, DragonflyHops(**dragonfly, /*by_groups=*/false)),
                hashing);
  }
  if (const auto* const grid = std::get_if<const Grid*>(&topology)) {
    return make(fabric, places, FormulaHops(fabric, places, GridHops(**grid)), hashing);
  }
  return make_hashed_resolver(fabric, places, next_hops(fabric, places, rest_of(topology)),
                              hashing);
}

}  // namespace contend
