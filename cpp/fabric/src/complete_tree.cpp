#include "contend/fabric/complete_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {

namespace {

/// Reads the cables in their order, and refuses the first that a complete tree would not have.
class Climb {
 public:
  explicit Climb(const Fabric& fabric) : fabric_(fabric) {}

  std::unique_ptr<CompleteTree> run() {
    if (!count_leaves()) return nullptr;
    while (cable_ < fabric_.cables()) {
      check_interruption();
      if (!climb()) return nullptr;
    }
    // All leaves are below each of the highest switches, and no switch is left over.
    if (subtrees_ != 1 || first_ + planes_ != fabric_.switches()) return nullptr;
    tree_->top = first_;
    return std::move(tree_);
  }

 private:
  /// The lowest switches have hosts, each of them, and no others do.
  bool count_leaves() {
    std::vector<bool> holds(fabric_.switches(), false);
    SwitchId end = 0;
    for (const SwitchId s : fabric_.host_switches()) {
      holds[s] = true;
      end = std::max(end, s + 1);
    }
    tree_->leaves = subtrees_ = end;
    tree_->place.resize(end);
    std::iota(tree_->place.begin(), tree_->place.end(), 0U);
    return end > 0 && std::all_of(holds.begin(), holds.begin() + end, [](bool has) { return has; });
  }

  SwitchId near(std::size_t cable) const { return fabric_.channel_from(channel(cable)); }
  SwitchId far(std::size_t cable) const { return fabric_.channel_to(channel(cable)); }
  static ChannelId channel(std::size_t cable) { return static_cast<ChannelId>(2 * cable); }

  /// Takes the cables up from the switches of a level.
  bool climb() {
    const std::size_t count = std::size_t{subtrees_} * planes_;
    const std::size_t left = fabric_.cables() - cable_;
    std::size_t up = 0, links = 0;
    while (up < left && near(cable_ + up) == first_) ++up;
    while (links < up && far(cable_ + links) == far(cable_)) ++links;
    if (up == 0 || up % links != 0 || left / up < count) return false;
    const std::size_t parents = up / links;
    const auto above = static_cast<SwitchId>(first_ + count);
    const std::size_t end = std::size_t{far(cable_ + count * up - 1)} + 1;
    std::uint32_t sharing = 1;
    while (sharing < planes_ && far(cable_ + sharing * up) == above) ++sharing;
    if (end <= above || parents * count % (sharing * (end - above)) != 0) return false;
    const std::size_t siblings = parents * count / (sharing * (end - above));
    // A switch that joins nothing but what is below one switch stands on no shortest way.
    if (siblings < 2 || subtrees_ % siblings != 0 || planes_ % sharing != 0) return false;
    tree_->steps.push_back({first_, tree_->leaves / subtrees_, planes_, sharing,
                            static_cast<std::uint32_t>(parents), static_cast<std::uint32_t>(links),
                            static_cast<std::uint32_t>(cable_)});
    if (tree_->steps.size() == 1 && !place_leaves(above, siblings)) return false;
    if (!joins(above, siblings)) return false;
    cable_ += count * up;
    first_ = above;
    subtrees_ /= static_cast<std::uint32_t>(siblings);
    planes_ = tree_->steps.back().planes_above();
    return true;
  }

  /// Leaves with the same parents stand next to each other.
  bool place_leaves(SwitchId above, std::size_t siblings) {
    const CompleteTree::Step& step = tree_->steps.back();
    std::vector<std::size_t> placed(subtrees_ / siblings, 0);
    for (SwitchId leaf = 0; leaf < tree_->leaves; ++leaf) {
      const SwitchId parent = far(cable_ + std::size_t{leaf} * step.cables());
      const std::size_t above_it = (parent - above) / step.parents;
      if (parent < above || above_it >= placed.size() || placed[above_it] == siblings) return false;
      tree_->place[leaf] = static_cast<std::uint32_t>(above_it * siblings + placed[above_it]++);
    }
    return true;
  }

  /// Whether the cables of the last step join what they should, by ports in their order.
  bool joins(SwitchId above, std::size_t siblings) const {
    const CompleteTree::Step& step = tree_->steps.back();
    const std::size_t planes_above = step.planes_above();
    std::vector<PortNumber> last_down(subtrees_ / siblings * planes_above, 0);
    std::size_t cable = cable_;
    SwitchId lower = first_;
    for (std::size_t subtree = 0; subtree < subtrees_; ++subtree) {
      const std::size_t place = step.leaves == 1 ? tree_->place[subtree] : subtree;
      for (std::size_t plane = 0; plane < planes_; ++plane, ++lower) {
        PortNumber last_up = 0;
        for (std::size_t parent = 0; parent < step.parents; ++parent) {
          const std::size_t upper =
              place / siblings * planes_above + plane / step.sharing * step.parents + parent;
          for (std::size_t copy = 0; copy < step.links; ++copy, ++cable) {
            const PortNumber from_port = fabric_.channel_from_port(channel(cable));
            const PortNumber to_port = fabric_.channel_to_port(channel(cable));
            if (near(cable) != lower || far(cable) != above + upper || from_port <= last_up ||
                to_port <= last_down[upper]) {
              return false;
            }
            last_up = from_port;
            last_down[upper] = to_port;
          }
        }
      }
    }
    return true;
  }

  const Fabric& fabric_;
  std::unique_ptr<CompleteTree> tree_ = std::make_unique<CompleteTree>();
  std::size_t cable_ = 0;
  SwitchId first_ = 0;          ///< switch of the level
  std::uint32_t subtrees_ = 0;  ///< whose leaves are different
  std::uint32_t planes_ = 1;
};

}  // namespace

bool CompleteTree::shared() const {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.sharing > 1; });
}

void CompleteTree::check(const Fabric& fabric, std::span<const HostId> hosts) const {
  std::size_t cables = 0;
  for (const Step& step : steps) cables += std::size_t{leaves} / step.leaves * step.cables();
  const auto on_leaf = [&](SwitchId s) { return s < leaves; };
  if (cables != fabric.cables() || !std::ranges::all_of(fabric.host_switches(), on_leaf)) {
    throw Error("a tree that belongs to the fabric");
  }
  for (const HostId host : hosts) {
    if (host >= fabric.hosts()) throw Error("host " + std::to_string(host) + " does not exist");
  }
}

std::size_t CompleteTree::steps_between(const Fabric& fabric, std::span<const HostId> hosts) const {
  check(fabric, hosts);
  std::size_t count = 0;
  for (; count < steps.size(); ++count) {
    const auto above = [&](HostId host) { return subtree(count, fabric.host_switch(host)); };
    const auto elsewhere = [&](HostId host) { return above(host) != above(hosts.front()); };
    if (std::none_of(hosts.begin(), hosts.end(), elsewhere)) break;
  }
  return count;
}

std::unique_ptr<CompleteTree> find_complete_tree(const Fabric& fabric) {
  return Climb(fabric).run();
}

}  // namespace contend
