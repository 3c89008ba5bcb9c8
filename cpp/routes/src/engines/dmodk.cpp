#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "../search/routed_traffic.hpp"
#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/fabric/levels.hpp"
#include "contend/routes/engines/balance.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// Levels from 0 and the switches from the lowest up. A switch that no path between hosts needs and
/// that is cabled to one of its own level stands outside.
struct Standing {
  std::vector<std::uint32_t> of;  ///< kNone for switches that stand outside
  std::vector<SwitchId> by_level;
};

Standing find_standing(const Fabric& fabric, const SwitchLinks& links) {
  const Levels levels = find_levels(fabric);
  Standing standing{std::vector<std::uint32_t>(links.switches(), kNone), {}};
  for (SwitchId s = 0; s < links.switches(); ++s) {
    if (levels.of[s] > 0) standing.of[s] = levels.of[s] - 1;
  }
  for (LinkId link = 0; link < links.links(); ++link) {
    const SwitchId from = links.from(link);
    if (levels.needed[from] == 0 && levels.of[from] == levels.of[links.to(link)]) {
      standing.of[from] = kNone;
    }
  }
  for (SwitchId s = 0; s < links.switches(); ++s) {
    if (standing.of[s] != kNone) standing.by_level.push_back(s);
  }
  std::ranges::stable_sort(standing.by_level, {}, [&](SwitchId s) { return standing.of[s]; });
  return standing;
}

/// A link between switches of one level, which no tree has; kNoLink where there is none.
LinkId link_across(const SwitchLinks& links, const Standing& standing) {
  for (LinkId link = 0; link < links.links(); ++link) {
    const std::uint32_t level = standing.of[links.from(link)];
    if (level != kNone && level == standing.of[links.to(link)]) return link;
  }
  return kNoLink;
}

/// Links up from one switch in the order in which parents take turns: the first cable to each, in
/// the order of ports, then the second to each, ... Returns the number of parents.
std::size_t take_parents_in_turn(const SwitchLinks& links, std::vector<LinkId>& up) {
  std::vector<SwitchId> parents;
  std::vector<std::size_t> cables;
  std::vector<std::pair<std::size_t, std::size_t>> turn;  // (cable of its parent, parent)
  for (const LinkId link : up) {
    const auto found = std::ranges::find(parents, links.to(link));
    const auto parent = static_cast<std::size_t>(found - parents.begin());
    if (found == parents.end()) {
      parents.push_back(links.to(link));
      cables.push_back(0);
    }
    turn.emplace_back(cables[parent]++, parent);
  }
  std::vector<std::size_t> order(up.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return turn[k]; });
  std::vector<LinkId> ordered;
  for (const std::size_t k : order) ordered.push_back(up[k]);
  up = std::move(ordered);
  return parents.size();
}

/// The fabric seen as a tree: links up and down, and for every switch the seats (switches with
/// hosts) below it and those it reaches at all by going up, then down.
class Tree {
 public:
  Tree(const Fabric& fabric, const SwitchLinks& links, Parallel parallel)
      : links_(links),
        levels_(find_standing(fabric, links)),
        up_(links.switches()),
        down_(links.switches()) {
    if (link_across(links, levels_) != kNoLink) throw Error("destination-mod-k needs a tree");
    for (LinkId link = 0; link < links.links(); ++link) {
      const SwitchId from = links.from(link);
      if (level(from) == kNone || level(links.to(link)) == kNone) continue;
      (level(links.to(link)) > level(from) ? up_ : down_)[from].push_back(link);
    }
    widest_.assign(height(), 1);
    for (const SwitchId s : levels_.by_level) {
      const std::size_t parents = parallel == Parallel::in_order_of_ports
                                      ? up_[s].size()
                                      : take_parents_in_turn(links, up_[s]);
      widest_[level(s)] = std::max(widest_[level(s)], parents);
    }
    order_seats(fabric);
    find_reach();
  }

  std::size_t seats() const { return seat_.size(); }
  SwitchId seat(std::size_t place) const { return seat_[place]; }
  std::uint32_t level(SwitchId s) const { return levels_.of[s]; }
  std::uint32_t height() const {
    return levels_.by_level.empty() ? 0 : levels_.of[levels_.by_level.back()] + 1;
  }
  /// Most turns that a switch of a level splits the hosts by.
  std::size_t widest(std::uint32_t of_level) const { return widest_[of_level]; }
  const std::vector<LinkId>& up(SwitchId s) const { return up_[s]; }
  const std::vector<LinkId>& down(SwitchId s) const { return down_[s]; }
  bool is_below(SwitchId s, std::size_t seat) const { return below_[s * seats() + seat] != 0; }
  bool reaches(SwitchId s, std::size_t seat) const { return reach_[s * seats() + seat] != 0; }

 private:
  /// Seats in the order in which one meets them going down from the top switches by their ports;
  /// those of the lowest level first, so that hosts further up change nothing for the others.
  void order_seats(const Fabric& fabric) {
    std::vector<bool> holds(links_.switches(), false);
    for (const SwitchId s : fabric.host_switches()) holds[s] = true;
    std::vector<bool> seen(links_.switches(), false);
    std::vector<SwitchId> stack;
    for (SwitchId top = 0; top < links_.switches(); ++top) {
      if (!up_[top].empty() || level(top) == kNone) continue;
      stack.push_back(top);
      while (!stack.empty()) {
        const SwitchId at = stack.back();
        stack.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        if (holds[at]) seat_.push_back(at);
        for (auto link = down_[at].rbegin(); link != down_[at].rend(); ++link) {
          stack.push_back(links_.to(*link));
        }
      }
    }
    std::ranges::stable_sort(seat_, {}, [&](SwitchId s) { return level(s); });
  }

  void find_reach() {
    below_.assign(links_.switches() * seats(), 0);
    for (std::size_t place = 0; place < seats(); ++place) {
      below_[seat_[place] * seats() + place] = 1;
    }
    const auto add = [&](std::vector<std::uint8_t>& to, SwitchId into,
                         const std::vector<std::uint8_t>& from, SwitchId other) {
      for (std::size_t k = 0; k < seats(); ++k) {
        to[into * seats() + k] |= from[other * seats() + k];
      }
    };
    for (const SwitchId s : levels_.by_level) {
      check_interruption();
      for (const LinkId link : down_[s]) add(below_, s, below_, links_.to(link));
    }
    reach_ = below_;
    for (auto s = levels_.by_level.rbegin(); s != levels_.by_level.rend(); ++s) {
      check_interruption();
      for (const LinkId link : up_[*s]) add(reach_, *s, reach_, links_.to(link));
    }
  }

  const SwitchLinks& links_;
  const Standing levels_;
  std::vector<std::vector<LinkId>> up_;
  std::vector<std::vector<LinkId>> down_;
  std::vector<std::size_t> widest_;  ///< by level
  std::vector<SwitchId> seat_;
  std::vector<std::uint8_t> below_;  ///< [switches][seats]
  std::vector<std::uint8_t> reach_;  ///< [switches][seats]
};

class DestinationModK {
 public:
  DestinationModK(const Fabric& fabric, const Targets& targets, Parallel parallel)
      : fabric_(fabric),
        targets_(targets),
        links_(fabric),
        tree_(fabric, links_, parallel),
        divisor_(tree_.height(), 1),
        hosts_(fabric.switches()),
        number_(fabric.hosts()),
        way_round_(tree_.seats()),
        tables_(fabric.switches() * targets.addresses, kNoPort) {
    count_hosts();
    find_divisors();
    find_ways_round();
  }

  Tables run() {
    in_parallel(thread_count(), fabric_.switches(), 4, [&](const Pieces& pieces) {
      for (const std::size_t s : pieces) fill(static_cast<SwitchId>(s));
    });
    // The rule is about hosts.
    reach_switches(fabric_, links_, targets_, tables_);
    return std::move(tables_);
  }

 private:
  void count_hosts() {
    for (HostId host = 0; host < fabric_.hosts(); ++host) {
      hosts_[fabric_.host_switch(host)].push_back(host);
    }
    HostId next = 0;
    for (std::size_t place = 0; place < tree_.seats(); ++place) {
      std::vector<HostId>& group = hosts_[tree_.seat(place)];
      std::ranges::sort(group, {}, [&](HostId host) { return fabric_.host_port(host); });
      for (const HostId host : group) number_[host] = next++;
    }
  }

  void find_divisors() {
    for (std::uint32_t level = 1; level < tree_.height(); ++level) {
      divisor_[level] = divisor_[level - 1] * tree_.widest(level - 1);
    }
  }

  void find_ways_round() {
    for (const std::size_t place : InParts(tree_.seats())) {
      way_round_[place] = place;
      const auto reaches = [&](std::size_t from) { return tree_.reaches(tree_.seat(from), place); };
      std::size_t leaf = tree_.seats();
      bool all = true;
      for (std::size_t from = tree_.seats(); from-- > 0;) {
        all = all && reaches(from);
        const bool is_leaf = from != place && tree_.level(tree_.seat(from)) == 0;
        if (is_leaf && reaches(from)) leaf = from;
      }
      if (!all && leaf < tree_.seats()) way_round_[place] = leaf;
    }
  }

  /// Number `number` going round as it leaves a switch of this level.
  std::size_t turn(SwitchId s, std::size_t number) const {
    return number / divisor_[tree_.level(s)];
  }

  void fill(SwitchId s) {
    std::vector<LinkId> choices;
    PortNumber* const row = tables_.data() + s * targets_.addresses;
    for (const std::size_t place : InParts(tree_.seats())) {
      const SwitchId seat = tree_.seat(place);
      // From one spine with hosts to the next one has to come down in between.
      const std::size_t towards = tree_.reaches(s, place) ? place : way_round_[place];
      choose(s, towards, choices);
      const bool down = s != seat && tree_.is_below(s, towards);
      const auto out = [&](std::size_t number) -> PortNumber {
        if (choices.empty()) return kNoPort;
        return links_.port(down ? downward(choices, number)
                                : choices[turn(s, number) % choices.size()]);
      };
      for (const HostId host : hosts_[seat]) {
        const Address first = targets_.hosts.first[host];
        if (first == 0) continue;
        // A host's further addresses take the turns after its own.
        for (Address k = 0; k < Address{1} << targets_.hosts.lmc[host]; ++k) {
          row[first + k] = s == seat ? fabric_.host_port(host) : out(number_[host] + k);
        }
      }
    }
  }

  /// Links of a switch that lead towards a seat: down if it is below, else up.
  void choose(SwitchId s, std::size_t place, std::vector<LinkId>& choices) const {
    choices.clear();
    if (tree_.is_below(s, place)) {
      for (const LinkId link : tree_.down(s)) {
        if (tree_.is_below(links_.to(link), place)) choices.push_back(link);
      }
      return;
    }
    for (const LinkId link : tree_.up(s)) {
      if (tree_.reaches(links_.to(link), place)) choices.push_back(link);
    }
    if (tree_.level(tree_.seat(place)) == 0) return;
    // A spine with hosts is not gone past.
    const auto leads_there = [&](LinkId link) { return tree_.is_below(links_.to(link), place); };
    if (std::ranges::any_of(choices, leads_there)) std::erase_if(choices, std::not_fn(leads_there));
  }

  /// The cable that leads up from the switch below by the rule, if it is among the choices.
  LinkId downward(const std::vector<LinkId>& choices, std::size_t number) const {
    for (const LinkId link : choices) {
      const std::vector<LinkId>& up = tree_.up(links_.to(link));
      if (up[turn(links_.to(link), number) % up.size()] == links_.reverse(link)) return link;
    }
    return choices[turn(links_.to(choices.front()), number) % choices.size()];
  }

  const Fabric& fabric_;
  const Targets& targets_;
  const SwitchLinks links_;
  const Tree tree_;
  std::vector<std::size_t> divisor_;  ///< by level
  std::vector<std::vector<HostId>> hosts_;
  std::vector<HostId> number_;         ///< place of a host in the order of the tree
  std::vector<std::size_t> way_round_; /**< by place of a seat: the first leaf that reaches it, for
                                          those that do not by going up, then down */
  Tables tables_;
};

}  // namespace

std::vector<SwitchId> tree_fault(const Fabric& fabric) {
  const SwitchLinks links(fabric);
  const Standing standing = find_standing(fabric, links);
  const LinkId link = link_across(links, standing);
  if (link == kNoLink) return {};
  return {links.from(link), links.to(link), standing.of[links.from(link)]};
}

Tables d_mod_k(const Fabric& fabric, const Targets& targets, Parallel parallel) {
  return DestinationModK(fabric, targets, parallel).run();
}

}  // namespace contend
