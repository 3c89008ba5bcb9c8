#include "contend/routes/fewest_collisions.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/routes/balance.hpp"
#include "contend/routes/channel_order.hpp"
#include "free_of_circles.hpp"
#include "routed_traffic.hpp"
#include "up_down_ways.hpp"

namespace contend {

namespace {

constexpr int kRounds = 6;       // more change hardly anything in trees
constexpr int kFirstRounds = 2;  // enough to tell which of several beginnings is good
constexpr int kLastRounds = 20;  // of the best one, unless a round saves hardly anything
constexpr double kNothing = 2e-4;
constexpr double kWork = 1e6;  // destinations times links, over all beginnings
constexpr std::size_t kMostRoots = 12;
constexpr std::size_t kMostOrders = 64;  // in which what is left over is tried

/// Traffic with its routes, and the lane and the turns of every destination.
struct Routing {
  RoutedTraffic traffic;
  std::vector<ChannelOrder> orders;  ///< by lane
  std::vector<std::uint8_t> lane;    ///< by destination

  bool note(std::size_t d) { return note_turns(traffic, d, orders[lane[d]]); }
  void forget(std::size_t d) { forget_turns(traffic, d, orders[lane[d]]); }
};

/// A spanning tree of every part of the fabric, breadth first: the link of each switch towards the
/// root, kNoLink at a root.
std::vector<LinkId> spanning_tree(const SwitchLinks& links, SwitchId root) {
  std::vector<LinkId> parent(links.switches(), kNoLink);
  std::vector<bool> seen(links.switches(), false);
  std::vector<SwitchId> reached;
  for (SwitchId k = 0; k < links.switches(); ++k) {
    const SwitchId first = k == 0 ? root : k == root ? 0 : k;
    if (seen[first]) continue;
    seen[first] = true;
    reached.assign(1, first);
    for (std::size_t head = 0; head < reached.size(); ++head) {
      for (LinkId link = links.begin(reached[head]); link < links.end(reached[head]); ++link) {
        const SwitchId far = links.to(link);
        if (seen[far]) continue;
        seen[far] = true;
        parent[far] = links.reverse(link);
        reached.push_back(far);
      }
    }
  }
  return parent;
}

/// The turns that routes take, those that carry most first.
std::vector<std::pair<LinkId, LinkId>> heaviest_turns(const Routing& routing, std::uint8_t lane) {
  std::vector<std::tuple<LinkId, LinkId, std::uint64_t>> taken;
  for (std::size_t d = 0; d < routing.lane.size(); ++d) {
    if (routing.lane[d] != lane) continue;
    routing.traffic.walk(d, [&](SwitchId source, LinkId link, LinkId before) {
      if (before != kNoLink) taken.emplace_back(before, link, routing.traffic.sent(d, source));
    });
  }
  std::ranges::sort(taken);
  std::vector<std::tuple<std::uint64_t, LinkId, LinkId>> sums;
  for (const auto& [first, next, sent] : taken) {
    if (sums.empty() || std::get<1>(sums.back()) != first || std::get<2>(sums.back()) != next) {
      sums.emplace_back(0, first, next);
    }
    std::get<0>(sums.back()) += sent;
  }
  std::ranges::stable_sort(sums, std::ranges::greater{},
                           [](const auto& sum) { return std::get<0>(sum); });
  std::vector<std::pair<LinkId, LinkId>> turns;
  for (const auto& [sent, first, next] : sums) turns.emplace_back(first, next);
  return turns;
}

class Descent {
 public:
  Descent(const Fabric& fabric, const Targets& targets, const CollisionTerms& terms)
      : fabric_(fabric), targets_(targets), terms_(terms), links_(fabric), search_(links_) {}

  LanedTables run() {
    Routing routing = unrouted();
    const bool tree = tree_fault(fabric_).empty();
    if (tree) routing.traffic.adopt(fabric_, d_mod_k(fabric_, targets_, Parallel::after_parents));
    if (!tree || !up_and_down(routing, heights_above(links_, routing.traffic.sources()))) {
      routing = unrouted();
      without_levels(routing);
    }
    return tables_of(routing);
  }

 private:
  Routing unrouted() const {
    RoutedTraffic traffic(fabric_, targets_, links_, terms_);
    std::vector<std::uint8_t> lane(traffic.destinations(), 0);
    return {std::move(traffic), {}, std::move(lane)};
  }

  // Routes that go up, then down.

  /// Descends over routes that go up, then down. Where some source has none to a destination, that
  /// one gets a tree afterwards whose turns close no circle with those that are taken. False if
  /// that is impossible.
  bool up_and_down(Routing& routing, const std::vector<std::uint32_t>& height) {
    RoutedTraffic& traffic = routing.traffic;
    UpDownWays ways(links_, height);
    std::vector<std::size_t> left;
    for (int round = 0; round < kRounds; ++round) {
      SwitchId to = kNoSwitch;
      bool reached = false;
      bool changed = false;
      left.clear();
      for (const std::size_t d : traffic.by_switch()) {
        if (traffic.at(d) != to) {
          ways.lead_to(to = traffic.at(d));
          reached = std::ranges::all_of(traffic.sources(), [&](SwitchId s) {
            return ways.reach_from(s) || !traffic.joined(s, to);
          });
        }
        traffic.remove(d);
        if (reached) {
          traffic.shun_siblings(d);
          changed |= ways.take_cheapest(traffic, d);
          traffic.forgive_siblings(d);
        } else {
          unroute(traffic, d);
          left.push_back(d);
        }
        traffic.add(d);
      }
      if (!changed) break;
    }
    return left.empty() || place_left_over(routing, ways, left);
  }

  void unroute(RoutedTraffic& traffic, std::size_t d) const {
    for (SwitchId s = 0; s < links_.switches(); ++s) traffic.set(d, s, kNoLink);
  }

  /// One tree may take the turn that another needs: whoever finds none comes first next time.
  bool place_left_over(Routing& routing, const UpDownWays& ways, std::vector<std::size_t>& left) {
    RoutedTraffic& traffic = routing.traffic;
    routing.orders.assign(1, ChannelOrder(links_, ways.link_ranks()));
    for (std::size_t d = 0; d < traffic.destinations(); ++d) routing.note(d);
    for (std::size_t order = 0; order < kMostOrders; ++order) {
      routing.orders[0].forget_refusals();
      std::size_t placed = 0;
      while (placed < left.size() && place(routing, left[placed])) ++placed;
      if (placed == left.size()) return true;
      for (std::size_t k = 0; k < placed; ++k) {
        routing.forget(left[k]);
        traffic.remove(left[k]);
        unroute(traffic, left[k]);
      }
      const auto failed = left.begin() + static_cast<std::ptrdiff_t>(placed);
      std::rotate(left.begin(), failed, failed + 1);
    }
    return false;
  }

  bool place(Routing& routing, std::size_t d) {
    if (!search_.find(routing.traffic, d, &routing.orders[routing.lane[d]])) return false;
    routing.traffic.set(d, search_.out());
    routing.note(d);
    routing.traffic.add(d);
    return true;
  }

  // Any other fabric.

  /// Tries several beginnings and improves the best.
  void without_levels(Routing& routing) {
    routing.traffic.keep_sources_apart();
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      routing.lane[d] = static_cast<std::uint8_t>(d % terms_.lanes);
    }
    std::optional<Routing> best;
    double fewest = std::numeric_limits<double>::infinity();
    const auto judge = [&](Routing&& tried) {
      for (int round = 0; round < kFirstRounds; ++round) improve(tried, round);
      const double collisions = tried.traffic.collisions();
      if (best && collisions >= fewest) return;
      fewest = collisions;
      best.emplace(std::move(tried));
    };
    if (Routing tried = routing; begin_by_levels(tried)) judge(std::move(tried));
    if (Routing tried = routing; begin_by_dimensions(tried)) judge(std::move(tried));
    Routing unbound = routing;
    descend_unbound(unbound.traffic);
    for (const SwitchId root : roots(routing.traffic)) {
      judge(within_heaviest_turns(unbound, root));
      judge(within_spanning_tree(routing, root));
    }
    routing = std::move(*best);
    for (int round = kFirstRounds; round < kLastRounds && improve(routing, round); ++round) {
    }
  }

  /// Some switches, far apart in their numbering, to begin spanning trees at.
  std::vector<SwitchId> roots(const RoutedTraffic& traffic) const {
    const double work = static_cast<double>(traffic.destinations()) *
                        static_cast<double>(links_.links()) * terms_.lanes;
    const auto affordable = static_cast<std::size_t>(kWork / std::max(work, 1.0));
    const std::size_t count =
        std::clamp<std::size_t>(affordable, 1, std::min(kMostRoots, links_.switches()));
    std::vector<SwitchId> chosen;
    for (std::size_t k = 0; k < count; ++k) {
      chosen.push_back(static_cast<SwitchId>(k * links_.switches() / count));
    }
    return chosen;
  }

  /// Begins by routes up and down over levels, where switches with few hosts do not count as
  /// lowest: trees in which a spare port higher up holds a host.
  bool begin_by_levels(Routing& routing) {
    std::vector<std::uint32_t> hosts(links_.switches(), 0);
    for (const SwitchId s : fabric_.host_switches()) ++hosts[s];
    const std::uint32_t most = *std::ranges::max_element(hosts);
    std::vector<SwitchId> lowest;
    for (const SwitchId s : routing.traffic.sources()) {
      if (hosts[s] * 4 > most) lowest.push_back(s);
    }
    if (lowest.size() == routing.traffic.sources().size()) return false;
    std::ranges::fill(routing.lane, std::uint8_t{0});
    const std::vector<std::uint32_t> height = heights_above(links_, lowest);
    if (!up_and_down(routing, height)) return false;
    routing.orders.assign(terms_.lanes,
                          ChannelOrder(links_, UpDownWays(links_, height).link_ranks()));
    return note_all(routing);
  }

  bool begin_by_dimensions(Routing& routing) {
    routing.traffic.adopt(fabric_, dimension_order(fabric_, targets_));
    routing.orders.assign(terms_.lanes, ChannelOrder(links_, ranks_towards(0)));
    return note_all(routing);
  }

  bool note_all(Routing& routing) {
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      if (!routing.traffic.is_reached(d) || !routing.note(d)) return false;
    }
    return true;
  }

  void descend_unbound(RoutedTraffic& traffic) {
    for (int round = 0; round < kRounds; ++round) {
      for (const std::size_t d : traffic.by_switch()) {
        traffic.remove(d);
        traffic.shun_siblings(d);
        search_.find(traffic, d, nullptr);
        traffic.forgive_siblings(d);
        traffic.set(d, search_.out());
        traffic.add(d);
      }
    }
  }

  /// Keeps the turns that carry most, as long as no circle closes, and the trees that need no
  /// others; the rest get trees of the turns that are left.
  Routing within_heaviest_turns(const Routing& unbound, SwitchId root) {
    Routing routing = unbound;
    const std::vector<LinkId> parent = spanning_tree(links_, root);
    routing.orders.assign(terms_.lanes, ChannelOrder(links_, ranks_towards(root)));
    for (std::uint8_t lane = 0; lane < terms_.lanes; ++lane) {
      ChannelOrder& order = routing.orders[lane];
      std::vector<std::pair<LinkId, LinkId>> kept = turns_of(parent);
      for (const auto& [first, next] : kept) order.insert(first, next);
      for (const auto& turn : heaviest_turns(routing, lane)) {
        if (order.insert(turn.first, turn.second)) kept.push_back(turn);
      }
      for (const std::size_t d : take_out_bound(routing, lane)) {
        if (!place(routing, d)) place_along(routing, d, parent);
      }
      for (const auto& [first, next] : kept) order.remove(first, next);
    }
    return routing;
  }

  /// Destinations of a lane that need turns which were not kept, taken off the links; the turns of
  /// the others are noted.
  std::vector<std::size_t> take_out_bound(Routing& routing, std::uint8_t lane) const {
    std::vector<std::size_t> out;
    const ChannelOrder& order = routing.orders[lane];
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      if (routing.lane[d] != lane) continue;
      bool kept = true;
      routing.traffic.walk(d, [&](SwitchId, LinkId link, LinkId before) {
        kept &= before == kNoLink || order.has(before, link);
      });
      if (kept) {
        routing.note(d);
      } else {
        routing.traffic.remove(d);
        out.push_back(d);
      }
    }
    return out;
  }

  /// All turns between links of a spanning tree.
  std::vector<std::pair<LinkId, LinkId>> turns_of(const std::vector<LinkId>& parent) const {
    std::vector<std::pair<LinkId, LinkId>> turns;
    const auto belongs = [&](SwitchId s, LinkId link) {
      return parent[s] == link || parent[links_.to(link)] == links_.reverse(link);
    };
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      for (LinkId in = links_.begin(s); in < links_.end(s); ++in) {
        if (!belongs(s, in)) continue;
        for (LinkId out = links_.begin(s); out < links_.end(s); ++out) {
          if (out != in && belongs(s, out)) turns.emplace_back(links_.reverse(in), out);
        }
      }
    }
    return turns;
  }

  /// Begins with everything on one spanning tree.
  Routing within_spanning_tree(const Routing& unrouted, SwitchId root) {
    Routing routing = unrouted;
    const std::vector<LinkId> parent = spanning_tree(links_, root);
    routing.orders.assign(terms_.lanes, ChannelOrder(links_, ranks_towards(root)));
    // Nothing is on the links, so that what is routed first does not shun the tree.
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      set_along(routing.traffic, d, parent);
      routing.note(d);
    }
    for (const std::size_t d : routing.traffic.by_switch()) {
      routing.forget(d);
      if (search_.find(routing.traffic, d, &routing.orders[routing.lane[d]])) {
        routing.traffic.set(d, search_.out());
      }
      routing.note(d);
      routing.traffic.add(d);
    }
    return routing;
  }

  void set_along(RoutedTraffic& traffic, std::size_t d, const std::vector<LinkId>& parent) const {
    traffic.set(d, parent);
    for (SwitchId s = traffic.at(d); parent[s] != kNoLink; s = links_.to(parent[s])) {
      traffic.set(d, links_.to(parent[s]), links_.reverse(parent[s]));
    }
    traffic.set(d, traffic.at(d), kNoLink);
  }

  void place_along(Routing& routing, std::size_t d, const std::vector<LinkId>& parent) const {
    set_along(routing.traffic, d, parent);
    routing.note(d);
    routing.traffic.add(d);
  }

  /// One round: every destination takes a cheaper tree, on its lane or another, if it finds one.
  /// True if that saved anything to speak of.
  bool improve(Routing& routing, int round) {
    for (ChannelOrder& order : routing.orders) order.forget_refusals();
    double saved = 0;
    double rest = 0;
    for (const std::size_t d : routing.traffic.by_switch()) {
      const auto [before, after] = improve(routing, d, round);
      saved += static_cast<double>(before - after);
      rest += static_cast<double>(after);
    }
    return saved > kNothing * rest;
  }

  /// What destination d cost before and costs now.
  std::pair<std::uint64_t, std::uint64_t> improve(Routing& routing, std::size_t d, int round) {
    RoutedTraffic& traffic = routing.traffic;
    traffic.remove(d);
    routing.forget(d);
    traffic.shun_siblings(d);
    const std::uint64_t before = traffic.cost(d);
    std::uint64_t least = before;
    const auto lanes = static_cast<std::uint32_t>(routing.orders.size());
    const std::uint32_t other = (routing.lane[d] + 1U + static_cast<unsigned>(round)) % lanes;
    bool better = false;
    std::uint8_t chosen = routing.lane[d];
    for (const std::uint32_t lane : {std::uint32_t{routing.lane[d]}, other}) {
      if (lane == other && lane == routing.lane[d] && lanes > 1) continue;
      if (!search_.find(traffic, d, &routing.orders[lane])) continue;
      const std::uint64_t cost = search_.cost(traffic, d);
      if (cost >= least) continue;
      least = cost;
      better = true;
      chosen = static_cast<std::uint8_t>(lane);
      found_.assign(search_.out().begin(), search_.out().end());
      if (lanes == 1) break;
    }
    traffic.forgive_siblings(d);
    if (better) {
      traffic.set(d, found_);
      routing.lane[d] = chosen;
    }
    if (!routing.note(d)) throw Error("routes that were free of circles no longer are");
    traffic.add(d);
    return {before, least};
  }

  /// Link ranks of routes up towards a root, then down.
  std::vector<std::uint32_t> ranks_towards(SwitchId root) const {
    std::vector<std::uint32_t> height = heights_above(links_, std::span(&root, 1));
    for (std::uint32_t& each : height) {
      each = static_cast<std::uint32_t>(links_.switches() - 1 - each);
    }
    return UpDownWays(links_, height).link_ranks();
  }

  // What comes out.

  LanedTables tables_of(Routing& routing) const {
    LanedTables made{Tables(links_.switches() * targets_.addresses, kNoPort),
                     std::vector<std::uint8_t>(targets_.addresses, 0)};
    RoutedTraffic& traffic = routing.traffic;
    for (std::size_t d = 0; d < traffic.destinations(); ++d) {
      reach_from_the_rest(traffic, d);
      made.lane[traffic.to(d).address] = routing.lane[d];
    }
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      PortNumber* row = made.tables.data() + s * targets_.addresses;
      for (std::size_t d = 0; d < traffic.destinations(); ++d) {
        const Destination& to = traffic.to(d);
        const LinkId link = traffic.out(d, s);
        if (link != kNoLink) row[to.address] = links_.port(link);
        if (s == traffic.at(d)) row[to.address] = fabric_.host_port(to.host);
      }
    }
    reach_switches(fabric_, links_, targets_, made.tables);
    return made;
  }

  /// Lets switches that no host's routes cross forward by the shortest way to one that has a link.
  void reach_from_the_rest(RoutedTraffic& traffic, std::size_t d) const {
    std::vector<SwitchId> reached;
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (s == traffic.at(d) || traffic.out(d, s) != kNoLink) reached.push_back(s);
    }
    for (std::size_t head = 0; reached.size() < links_.switches() && head < reached.size();
         ++head) {
      const SwitchId at = reached[head];
      for (LinkId away = links_.begin(at); away < links_.end(at); ++away) {
        const SwitchId far = links_.to(away);
        if (far == traffic.at(d) || traffic.out(d, far) != kNoLink) continue;
        traffic.set(d, far, links_.reverse(away));
        reached.push_back(far);
      }
    }
  }

  const Fabric& fabric_;
  const Targets& targets_;
  const CollisionTerms& terms_;
  const SwitchLinks links_;
  CircleFreeSearch search_;
  std::vector<LinkId> found_;
};

}  // namespace

LanedTables fewest_collisions(const Fabric& fabric, const Targets& targets,
                              const CollisionTerms& terms) {
  if (terms.lanes < 1 || terms.lanes > 15) throw Error("lanes are from 1 to 15");
  return Descent(fabric, targets, terms).run();
}

}  // namespace contend
