#include <algorithm>
#include <string>

#include "contend/base/error.hpp"
#include "contend/routes/engines.hpp"
#include "contend/routes/links.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// The fabric seen as a tree: levels, links up and down in the order of ports, and for every switch
/// the leaves (switches with hosts) below it and those it reaches at all by going up, then down.
class Tree {
 public:
  explicit Tree(const Fabric& fabric, const SwitchLinks& links) : links_(links) {
    find_levels(fabric);
    up_.resize(links.switches());
    down_.resize(links.switches());
    for (SwitchId s = 0; s < links.switches(); ++s) split(s);
    order_leaves();
    find_reach();
  }

  std::size_t leaves() const { return leaf_.size(); }
  SwitchId leaf(std::size_t place) const { return leaf_[place]; }
  std::uint32_t level(SwitchId s) const { return level_[s]; }
  std::uint32_t levels() const { return std::ranges::max(level_) + 1; }
  const std::vector<LinkId>& up(SwitchId s) const { return up_[s]; }
  const std::vector<LinkId>& down(SwitchId s) const { return down_[s]; }
  bool is_below(SwitchId s, std::size_t leaf) const { return below_[s * leaves() + leaf]; }
  bool reaches(SwitchId s, std::size_t leaf) const { return reach_[s * leaves() + leaf]; }

 private:
  void find_levels(const Fabric& fabric) {
    level_.assign(links_.switches(), kNone);
    for (const SwitchId s : fabric.host_switches()) level_[s] = 0;
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (level_[s] == 0) by_level_.push_back(s);
    }
    for (std::size_t head = 0; head < by_level_.size(); ++head) {
      const SwitchId at = by_level_[head];
      for (LinkId link = links_.begin(at); link < links_.end(at); ++link) {
        const SwitchId far = links_.to(link);
        if (level_[far] != kNone) continue;
        level_[far] = level_[at] + 1;
        by_level_.push_back(far);
      }
    }
    // Switches that no host reaches carry nothing.
    for (std::uint32_t& level : level_) level = level == kNone ? 0 : level;
  }

  void split(SwitchId s) {
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      const SwitchId far = links_.to(link);
      if (level_[far] == level_[s]) {
        throw Error("dmodk needs a tree, but switches " + std::to_string(s) + " and " +
                    std::to_string(far) + " are cabled to each other and both " +
                    std::to_string(level_[s]) + " switches away from the nearest hosts");
      }
      (level_[far] > level_[s] ? up_ : down_)[s].push_back(link);
    }
  }

  /// Leaves in the order in which one meets them going down from the top switches by their ports.
  void order_leaves() {
    std::vector<bool> seen(links_.switches(), false);
    std::vector<SwitchId> stack;
    for (SwitchId top = 0; top < links_.switches(); ++top) {
      if (!up_[top].empty()) continue;
      stack.push_back(top);
      while (!stack.empty()) {
        const SwitchId at = stack.back();
        stack.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        if (level_[at] == 0) leaf_.push_back(at);
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
    for (const SwitchId s : by_level_) {
      for (const LinkId link : down_[s]) add(below_, s, below_, links_.to(link));
    }
    reach_ = below_;
    for (auto s = by_level_.rbegin(); s != by_level_.rend(); ++s) {
      for (const LinkId link : up_[*s]) add(reach_, *s, reach_, links_.to(link));
    }
  }

  const SwitchLinks& links_;
  std::vector<std::uint32_t> level_;
  std::vector<SwitchId> by_level_;
  std::vector<std::vector<LinkId>> up_;
  std::vector<std::vector<LinkId>> down_;
  std::vector<SwitchId> leaf_;
  std::vector<std::uint8_t> below_;  ///< [switches][leaves]
  std::vector<std::uint8_t> reach_;  ///< [switches][leaves]
};

class DestinationModK {
 public:
  DestinationModK(const Fabric& fabric, const Targets& targets)
      : fabric_(fabric),
        targets_(targets),
        links_(fabric),
        tree_(fabric, links_),
        divisor_(tree_.levels(), 1),
        hosts_(fabric.switches()),
        number_(fabric.hosts()),
        tables_(fabric.switches() * targets.addresses, kNoPort) {
    count_hosts();
    find_divisors();
  }

  Tables run() {
    const auto switches = static_cast<std::int64_t>(fabric_.switches());
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t k = 0; k < switches; ++k) fill(static_cast<SwitchId>(k));
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
    std::vector<std::size_t> widest(tree_.levels(), 1);
    for (SwitchId s = 0; s < fabric_.switches(); ++s) {
      std::size_t& width = widest[tree_.level(s)];
      width = std::max(width, tree_.up(s).size());
    }
    for (std::uint32_t level = 1; level < tree_.levels(); ++level) {
      divisor_[level] = divisor_[level - 1] * widest[level - 1];
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

Tables d_mod_k(const Fabric& fabric, const Targets& targets) {
  return DestinationModK(fabric, targets).run();
}

}  // namespace contend
