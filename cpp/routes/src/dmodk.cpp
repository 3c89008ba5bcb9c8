#include <algorithm>
#include <numeric>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/balance.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// Distance of every switch from the nearest with hosts, and the switches in that order.
struct Levels {
  std::vector<std::uint32_t> of;  ///< kNone for switches that no host reaches
  std::vector<SwitchId> by_level;
};

Levels find_levels(const Fabric& fabric, const SwitchLinks& links) {
  Levels levels{std::vector<std::uint32_t>(links.switches(), kNone), {}};
  for (const SwitchId s : fabric.host_switches()) levels.of[s] = 0;
  for (SwitchId s = 0; s < links.switches(); ++s) {
    if (levels.of[s] == 0) levels.by_level.push_back(s);
  }
  for (std::size_t head = 0; head < levels.by_level.size(); ++head) {
    const SwitchId at = levels.by_level[head];
    for (LinkId link = links.begin(at); link < links.end(at); ++link) {
      const SwitchId far = links.to(link);
      if (levels.of[far] != kNone) continue;
      levels.of[far] = levels.of[at] + 1;
      levels.by_level.push_back(far);
    }
  }
  return levels;
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

/// The fabric seen as a tree: links up and down, and for every switch the leaves (switches with
/// hosts) below it and those it reaches at all by going up, then down.
class Tree {
 public:
  Tree(const Fabric& fabric, const SwitchLinks& links, Parallel parallel)
      : links_(links),
        levels_(find_levels(fabric, links)),
        up_(links.switches()),
        down_(links.switches()) {
    for (LinkId link = 0; link < links.links(); ++link) {
      const SwitchId from = links.from(link);
      const bool is_up = levels_.of[links.to(link)] > levels_.of[from];
      (is_up ? up_ : down_)[from].push_back(link);
    }
    widest_.assign(height(), 1);
    for (const SwitchId s : levels_.by_level) {
      const std::size_t parents = parallel == Parallel::in_order_of_ports
                                      ? up_[s].size()
                                      : take_parents_in_turn(links, up_[s]);
      widest_[level(s)] = std::max(widest_[level(s)], parents);
    }
    order_leaves();
    find_reach();
  }

  std::size_t leaves() const { return leaf_.size(); }
  SwitchId leaf(std::size_t place) const { return leaf_[place]; }
  std::uint32_t level(SwitchId s) const { return levels_.of[s]; }
  std::uint32_t height() const {
    return levels_.by_level.empty() ? 0 : levels_.of[levels_.by_level.back()] + 1;
  }
  /// Most turns that a switch of a level splits the hosts by.
  std::size_t widest(std::uint32_t of_level) const { return widest_[of_level]; }
  const std::vector<LinkId>& up(SwitchId s) const { return up_[s]; }
  const std::vector<LinkId>& down(SwitchId s) const { return down_[s]; }
  bool is_below(SwitchId s, std::size_t leaf) const { return below_[s * leaves() + leaf] != 0; }
  bool reaches(SwitchId s, std::size_t leaf) const { return reach_[s * leaves() + leaf] != 0; }

 private:
  /// Leaves in the order in which one meets them going down from the top switches by their ports.
  void order_leaves() {
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
        if (level(at) == 0) leaf_.push_back(at);
        for (auto link = down_[at].rbegin(); link != down_[at].rend(); ++link) {
          stack.push_back(links_.to(*link));
        }
      }
    }
  }

  void find_reach() {
    below_.assign(links_.switches() * leaves(), 0);
    for (std::size_t place = 0; place < leaves(); ++place) {
      below_[leaf_[place] * leaves() + place] = 1;
    }
    const auto add = [&](std::vector<std::uint8_t>& to, SwitchId into,
                         const std::vector<std::uint8_t>& from, SwitchId other) {
      for (std::size_t k = 0; k < leaves(); ++k) {
        to[into * leaves() + k] |= from[other * leaves() + k];
      }
    };
    for (const SwitchId s : levels_.by_level) {
      for (const LinkId link : down_[s]) add(below_, s, below_, links_.to(link));
    }
    reach_ = below_;
    for (auto s = levels_.by_level.rbegin(); s != levels_.by_level.rend(); ++s) {
      for (const LinkId link : up_[*s]) add(reach_, *s, reach_, links_.to(link));
    }
  }

  const SwitchLinks& links_;
  const Levels levels_;
  std::vector<std::vector<LinkId>> up_;
  std::vector<std::vector<LinkId>> down_;
  std::vector<std::size_t> widest_;  ///< by level
  std::vector<SwitchId> leaf_;
  std::vector<std::uint8_t> below_;  ///< [switches][leaves]
  std::vector<std::uint8_t> reach_;  ///< [switches][leaves]
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
        tables_(fabric.switches() * targets.addresses, kNoPort) {
    count_hosts();
    find_divisors();
  }

  Tables run() {
    const auto switches = static_cast<std::int64_t>(fabric_.switches());
#pragma omp parallel for num_threads(thread_count()) schedule(dynamic, 16)
    for (std::int64_t k = 0; k < switches; ++k) fill(static_cast<SwitchId>(k));
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
    for (std::size_t place = 0; place < tree_.leaves(); ++place) {
      std::vector<HostId>& group = hosts_[tree_.leaf(place)];
      std::ranges::sort(group, {}, [&](HostId host) { return fabric_.host_port(host); });
      for (const HostId host : group) number_[host] = next++;
    }
  }

  void find_divisors() {
    for (std::uint32_t level = 1; level < tree_.height(); ++level) {
      divisor_[level] = divisor_[level - 1] * tree_.widest(level - 1);
    }
  }

  /// Number `number` going round as it leaves a switch of this level.
  std::size_t turn(SwitchId s, std::size_t number) const {
    return number / divisor_[tree_.level(s)];
  }

  void fill(SwitchId s) {
    std::vector<LinkId> choices;
    PortNumber* const row = tables_.data() + s * targets_.addresses;
    for (std::size_t place = 0; place < tree_.leaves(); ++place) {
      const SwitchId leaf = tree_.leaf(place);
      choose(s, place, choices);
      const bool down = s != leaf && tree_.is_below(s, place);
      const auto out = [&](std::size_t number) -> PortNumber {
        if (choices.empty()) return kNoPort;
        return links_.port(down ? downward(choices, number)
                                : choices[turn(s, number) % choices.size()]);
      };
      for (const HostId host : hosts_[leaf]) {
        const Address first = targets_.hosts.first[host];
        if (first == 0) continue;
        // A host's further addresses take the turns after its own.
        for (Address k = 0; k < Address{1} << targets_.hosts.lmc[host]; ++k) {
          row[first + k] = s == leaf ? fabric_.host_port(host) : out(number_[host] + k);
        }
      }
    }
  }

  /// Links of a switch that lead towards a leaf: down if it is below, else up.
  void choose(SwitchId s, std::size_t place, std::vector<LinkId>& choices) const {
    choices.clear();
    if (tree_.is_below(s, place)) {
      for (const LinkId link : tree_.down(s)) {
        if (tree_.is_below(links_.to(link), place)) choices.push_back(link);
      }
    } else {
      for (const LinkId link : tree_.up(s)) {
        if (tree_.reaches(links_.to(link), place)) choices.push_back(link);
      }
    }
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
  std::vector<HostId> number_;  ///< place of a host in the order of the tree
  Tables tables_;
};

}  // namespace

std::vector<SwitchId> tree_fault(const Fabric& fabric) {
  const SwitchLinks links(fabric);
  const Levels levels = find_levels(fabric, links);
  for (LinkId link = 0; link < links.links(); ++link) {
    const std::uint32_t level = levels.of[links.from(link)];
    if (level != kNone && level == levels.of[links.to(link)]) {
      return {links.from(link), links.to(link), level};
    }
  }
  return {};
}

Tables d_mod_k(const Fabric& fabric, const Targets& targets, Parallel parallel) {
  if (!tree_fault(fabric).empty()) throw Error("destination-mod-k needs a tree");
  return DestinationModK(fabric, targets, parallel).run();
}

}  // namespace contend
