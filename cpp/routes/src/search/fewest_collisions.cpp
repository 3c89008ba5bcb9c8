#include "contend/routes/search/fewest_collisions.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "beginnings.hpp"
#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"
#include "contend/base/tiles.hpp"
#include "contend/fabric/levels.hpp"
#include "contend/routes/engines/balance.hpp"
#include "free_of_circles.hpp"
#include "routed_traffic.hpp"
#include "up_down_ways.hpp"

namespace contend {

namespace {

constexpr int kRounds = 6;       // more change hardly anything in trees
constexpr int kFirstRounds = 2;  // enough to tell which of several beginnings is good
constexpr int kLastRounds = 20;  // of the best one, unless a round saves hardly anything
constexpr double kNothing = 2e-4;
constexpr double kHopeless = 1.2;  // times the best: the first rounds save a tenth at most
constexpr double kWork = 1e6;      // destinations times links, over all beginnings
constexpr std::size_t kMostRoots = 12;
constexpr std::size_t kMostOrders = 64;  // in which what is left over is tried
// How long what goes over all destinations takes, in rounds that do so without bounds: those that
// find trees without circles. The best beginning is improved in as many as usually save anything.
constexpr std::uint64_t kBoundRound = 2;
constexpr std::uint64_t kUsualLastRounds = 4;

class Descent {
 public:
  Descent(const Fabric& fabric, const Targets& targets, const CollisionTerms& terms)
      : fabric_(fabric), targets_(targets), terms_(terms), links_(fabric), search_(links_) {}

  LanedTables run() {
    if (tree_fault(fabric_).empty()) {
      Progress rounds(kRounds + 2, 1);
      Routing routing = unrouted();
      routing.traffic.adopt(fabric_, d_mod_k(fabric_, targets_, Parallel::after_parents));
      rounds.done();
      if (up_and_down(routing, leaves(), rounds)) return tables_of(routing);
    }
    Routing routing = unrouted();
    return without_levels(routing);
  }

 private:
  Routing unrouted() const {
    RoutedTraffic traffic(fabric_, targets_, links_, terms_);
    std::vector<std::uint8_t> lane(traffic.destinations(), 0);
    return {std::move(traffic), {}, std::move(lane)};
  }

  // Routes that go up, then down.

  std::vector<SwitchId> leaves() const {
    const Levels levels = find_levels(fabric_);
    std::vector<SwitchId> lowest;
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (levels.of[s] == 1) lowest.push_back(s);
    }
    return lowest;
  }

  /// Descends over routes that go up from the lowest switches, then down. Where some source has
  /// none to a destination, that one gets a tree afterwards whose turns close no circle with those
  /// that are taken. False if that is impossible.
  bool up_and_down(Routing& routing, std::span<const SwitchId> lowest, Progress& rounds) {
    RoutedTraffic& traffic = routing.traffic;
    UpDownWays ways(links_, heights_above(links_, lowest));
    std::vector<std::size_t> left;
    for (int round = 0; round < kRounds; ++round) {
      SwitchId to = kNoSwitch;
      bool reached = false;
      bool changed = false;
      left.clear();
      for (const std::size_t k : InParts(traffic.destinations())) {
        const std::size_t d = traffic.by_switch()[k];
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
      rounds.done(changed ? 1 : kRounds - round);
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
      while (placed < left.size() && routing.place(left[placed], search_)) ++placed;
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

  // Any other fabric.

  /// Tries several beginnings and improves the best.
  LanedTables without_levels(Routing& routing) {
    routing.traffic.keep_sources_apart();
    routing.orders.assign(terms_.lanes, ChannelOrder(links_, ranks_towards(links_, 0)));
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      routing.lane[d] = static_cast<std::uint8_t>(d % terms_.lanes);
    }
    std::optional<Routing> by_dimensions(routing);
    if (!begin_by_dimensions(*by_dimensions)) by_dimensions.reset();
    const std::vector<SwitchId> from = roots(routing.traffic);
    const std::uint64_t improved = (terms_.lanes > 1 ? 2 : 1) * kBoundRound;
    const std::uint64_t judged = kFirstRounds * improved + 1;
    const std::uint64_t of_root = 2 * (kBoundRound + judged);
    Progress rounds(kRounds + (by_dimensions ? judged : 0) + from.size() * of_root +
                        kUsualLastRounds * improved + 1,
                    0);
    std::optional<Routing> best;
    double fewest = std::numeric_limits<double>::infinity();
    const auto judge = [&](Routing&& routed) {
      for (int round = 0; round < kFirstRounds; ++round) {
        rounds.begin(improved);
        if (improve(routed, round).rest > kHopeless * fewest) {
          rounds.begin(static_cast<std::uint64_t>(kFirstRounds - 1 - round) * improved + 1);
          return;
        }
      }
      rounds.begin(1);
      const double collisions = routed.traffic.collisions();
      if (best && collisions >= fewest) return;
      fewest = collisions;
      best.emplace(std::move(routed));
    };
    if (by_dimensions) judge(std::move(*by_dimensions));
    by_dimensions.reset();
    const Beginnings beginnings(links_, search_);
    rounds.begin(kRounds);
    Routing unbound = routing;
    descend_unbound(unbound.traffic);
    for (const SwitchId root : from) {
      rounds.begin(kBoundRound);
      judge(beginnings.within_heaviest_turns(unbound, root));
      rounds.begin(kBoundRound);
      judge(beginnings.within_spanning_tree(routing, root));
    }
    routing = std::move(*best);
    rounds.begin(kUsualLastRounds * improved);
    improve_on(routing);
    rounds.begin(1);
    return tables_of(routing);
  }

  void improve_on(Routing& routing) {
    Progress last(kUsualLastRounds);
    for (int round = kFirstRounds; round < kLastRounds; ++round) {
      const Round done = improve(routing, round);
      if (done.saved <= kNothing * done.rest) break;
      last.done();
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

  bool begin_by_dimensions(Routing& routing) {
    routing.traffic.adopt(fabric_, dimension_order(fabric_, targets_));
    return note_all(routing);
  }

  bool note_all(Routing& routing) {
    for (std::size_t d = 0; d < routing.lane.size(); ++d) {
      if (!routing.traffic.is_reached(d) || !routing.note(d)) return false;
    }
    return true;
  }

  void descend_unbound(RoutedTraffic& traffic) {
    for (const int round [[maybe_unused]] : InParts(kRounds)) {
      for (const std::size_t k : InParts(traffic.destinations())) {
        const std::size_t d = traffic.by_switch()[k];
        traffic.remove(d);
        traffic.shun_siblings(d);
        search_.find(traffic, d, nullptr);
        traffic.forgive_siblings(d);
        traffic.set(d, search_.out());
        traffic.add(d);
      }
    }
  }

  /// What a round saved, and what all destinations cost then.
  struct Round {
    double saved = 0;
    double rest = 0;
  };

  /// One round: every destination takes a cheaper tree, on its lane or another, if it finds one.
  Round improve(Routing& routing, int round) {
    for (ChannelOrder& order : routing.orders) order.forget_refusals();
    Round done;
    for (const std::size_t k : InParts(routing.traffic.destinations())) {
      const std::size_t d = routing.traffic.by_switch()[k];
      const auto [before, after] = improve(routing, d, round);
      done.saved += static_cast<double>(before - after);
      done.rest += static_cast<double>(after);
    }
    return done;
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

  // What comes out.

  LanedTables tables_of(Routing& routing) const {
    LanedTables made{Tables(links_.switches() * targets_.addresses, kNoPort),
                     std::vector<std::uint8_t>(targets_.addresses, 0)};
    RoutedTraffic& traffic = routing.traffic;
    for (const std::size_t d : InParts(traffic.destinations())) {
      reach_from_the_rest(traffic, d);
      made.lane[traffic.to(d).address] = routing.lane[d];
    }
    for_each_in_tiles(links_.switches(), traffic.destinations(),
                      [&](std::size_t at, std::size_t d) {
                        const auto s = static_cast<SwitchId>(at);
                        const Destination& to = traffic.to(d);
                        PortNumber& entry = made.tables[s * targets_.addresses + to.address];
                        const LinkId link = traffic.out(d, s);
                        if (link != kNoLink) entry = links_.port(link);
                        if (s == traffic.at(d)) entry = fabric_.host_port(to.host);
                      });
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
