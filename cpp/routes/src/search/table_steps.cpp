#include "contend/routes/search/table_steps.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/checks/channel_order.hpp"
#include "free_of_circles.hpp"
#include "routed_traffic.hpp"
#include "up_down_ways.hpp"

namespace contend {

namespace {

/// What a change of an entry would save, as of when it was looked at.
struct Chance {
  std::uint64_t gain;
  std::uint32_t destination;
  SwitchId at;
  LinkId by;

  bool operator<(const Chance& other) const {
    if (gain != other.gain) return gain < other.gain;
    return std::pair(destination, at) > std::pair(other.destination, other.at);
  }
};

class Steps {
 public:
  Steps(const Fabric& fabric, const Targets& targets, const Tables& tables,
        const CollisionTerms& terms, std::span<const std::uint8_t> open)
      : links_(fabric),
        open_(open),
        traffic_(fabric, targets, links_, terms),
        // Most routes go up from hosts, then down: in that order few turns need a rearrangement.
        order_(links_, UpDownWays(links_, heights_above(links_, traffic_.sources())).link_ranks()),
        changed_(traffic_.destinations() * links_.switches(), false),
        flow_(traffic_.destinations() * links_.switches()),
        tree_(links_.switches()),
        cost_(links_.switches()) {
    traffic_.adopt(fabric, tables);
    for (std::size_t d = 0; d < traffic_.destinations(); ++d) {
      turn_to();
      for (const SwitchId source : traffic_.sources()) {
        if (traffic_.joined(source, traffic_.at(d)) && !arrives(d, source)) {
          throw Error("by these tables not all routes between hosts arrive");
        }
      }
      if (!note_turns(traffic_, d, order_)) {
        throw Error("channels can wait for each other in a circle by these tables already");
      }
      find_flow(d);
    }
  }

  std::vector<TableStep> run(std::size_t most) {
    std::vector<TableStep> steps;
    bool any = true;
    while (any && steps.size() < most) {
      any = false;
      look_everywhere();
      while (!chances_.empty() && steps.size() < most) {
        const Chance chance = chances_.top();
        chances_.pop();
        Chance now = look(chance.destination, chance.at);
        if (now.gain == 0) continue;
        if (!chances_.empty() && now < chances_.top()) {
          chances_.push(now);
          continue;
        }
        if (!admit(now)) continue;
        steps.push_back(take(now));
        any = true;
      }
    }
    return steps;
  }

 private:
  void look_everywhere() {
    chances_ = {};
    for (std::uint32_t d = 0; d < traffic_.destinations(); ++d) {
      turn_to();
      for (SwitchId s = 0; s < links_.switches(); ++s) {
        if (const Chance chance = best(d, s); chance.gain > 0) chances_.push(chance);
      }
    }
  }

  Chance look(std::uint32_t d, SwitchId s) {
    turn_to();
    return best(d, s);
  }

  void turn_to() {
    check_interruption();
    tree_.clear();
  }

  /// What is sent to destination d over every switch.
  void find_flow(std::size_t d) {
    std::fill_n(flow_.begin() + static_cast<std::ptrdiff_t>(d * links_.switches()),
                links_.switches(), std::uint64_t{0});
    traffic_.walk(d, [&](SwitchId source, LinkId link, LinkId) {
      flow_[d * links_.switches() + links_.from(link)] += traffic_.sent(d, source);
    });
  }
  std::uint64_t flow(std::size_t d, SwitchId s) const { return flow_[d * links_.switches() + s]; }

  bool arrives(std::size_t d, SwitchId s) {
    const auto next = [&](SwitchId at) { return traffic_.next(d, at); };
    return tree_.reach(s, next) == TraceEnd::delivered;
  }

  /// Hops from a switch to destination d; its cost is known then too, without what is sent there
  /// itself. More than there are switches where the entries do not lead there.
  std::uint32_t follow(std::uint32_t d, SwitchId s) {
    const std::size_t known = tree_.order().size();
    if (!arrives(d, s)) return kNowhere;
    for (const SwitchId at : tree_.order().subspan(known)) {
      const LinkId link = traffic_.out(d, at);
      cost_[at] = link == kNoLink ? 0
                                  : cost_[links_.to(link)] + traffic_.price(link) -
                                        flow(d, at) * traffic_.weight(link);
    }
    return tree_.hops(s);
  }

  /// The best change of the entry of a switch for destination d, after a turn to it.
  Chance best(std::uint32_t d, SwitchId s) {
    Chance chance{0, d, s, kNoLink};
    if (flow(d, s) == 0 || s == traffic_.at(d) || changed_[d * links_.switches() + s])
      return chance;
    if (!open_.empty() && open_[s] == 0) return chance;
    const std::uint32_t hops = follow(d, s);
    const LinkId present = traffic_.out(d, s);
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      const SwitchId far = links_.to(link);
      // Fewer hops are left from there, so that its way cannot lead back here.
      if (link == present || follow(d, far) >= hops) continue;
      const std::uint64_t cost = traffic_.price(link) + cost_[far];
      if (cost >= cost_[s]) continue;
      const std::uint64_t gain = flow(d, s) * (cost_[s] - cost);
      if (gain <= chance.gain) continue;
      chance.gain = gain;
      chance.by = link;
    }
    return chance;
  }

  /// Notes all turns that a change brings, after a look at it; false, and none noted, where they
  /// close a circle.
  bool admit(const Chance& chance) {
    const std::size_t d = chance.destination;
    std::vector<std::pair<LinkId, LinkId>> turns;
    for (LinkId away = links_.begin(chance.at); away < links_.end(chance.at); ++away) {
      const LinkId in = links_.reverse(away);
      if (flow(d, links_.to(away)) > 0 && traffic_.out(d, links_.to(away)) == in) {
        turns.emplace_back(in, chance.by);
      }
    }
    traffic_.walk(d, links_.to(chance.by), chance.by,
                  [&](LinkId link, LinkId before) { turns.emplace_back(before, link); });
    for (std::size_t k = 0; k < turns.size(); ++k) {
      if (order_.insert(turns[k].first, turns[k].second)) continue;
      while (k-- > 0) order_.remove(turns[k].first, turns[k].second);
      return false;
    }
    return true;
  }

  TableStep take(const Chance& chance) {
    const std::size_t d = chance.destination;
    const LinkId before = traffic_.out(d, chance.at);
    traffic_.remove(d);
    traffic_.set(d, chance.at, chance.by);
    traffic_.add(d);
    find_flow(d);
    changed_[d * links_.switches() + chance.at] = true;
    return {chance.at, traffic_.to(d).address, links_.port(before), links_.port(chance.by)};
  }

  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

  const SwitchLinks links_;
  const std::span<const std::uint8_t> open_;  ///< by switch, or empty
  RoutedTraffic traffic_;
  ChannelOrder order_;
  std::vector<bool> changed_;        ///< [destinations][switches]
  std::vector<std::uint64_t> flow_;  ///< [destinations][switches]
  InTree tree_;                      ///< of the routes to one destination
  std::vector<std::uint64_t> cost_;  ///< by switch, to one destination
  std::priority_queue<Chance> chances_;
};

}  // namespace

std::vector<TableStep> table_steps(const Fabric& fabric, const Targets& targets,
                                   const Tables& tables, const CollisionTerms& terms,
                                   std::size_t most, std::span<const std::uint8_t> open) {
  if (tables.size() != fabric.switches() * targets.addresses) {
    throw Error("forwarding tables do not belong to the fabric");
  }
  if (!open.empty() && open.size() != fabric.switches()) {
    throw Error("which entries may change is said of other switches");
  }
  return Steps(fabric, targets, tables, terms, open).run(most);
}

}  // namespace contend
