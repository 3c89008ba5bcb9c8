#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../ways/grid_box.hpp"
#include "../ways/set_numbers.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/split/even_tree.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/ways/dragonfly_hops.hpp"
#include "sprayed_ways.hpp"

namespace contend {

namespace {

/// Every two leaves have ways of their own, which are followed when they are asked for. Those who
/// follow say parts_between().
class FollowedWays : public SplittingResolver, protected Ways {
 public:
  /// `longest`: channels that a way between some places crosses at most.
  FollowedWays(const Fabric& fabric, const Places& places, std::size_t longest)
      : FollowedWays(fabric, places, longest, leaves_of(fabric, places.hosts)) {}

  std::size_t bytes() const override {
    return places() * sizeof(std::uint32_t) + switches_.size() * sizeof(SwitchId);
  }
  const Ways* ways() const final { return this; }
  std::uint64_t work_of_round() const final { return switch_channels(); }

  /// Where a round has as many messages as there are pairs, each pair is followed once.
  std::uint64_t most_followed() const override { return std::uint64_t{leaves()} * leaves(); }

  void spread(std::span<const std::uint64_t> messages, std::span<double> load,
              Crossed&) const override {
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      if (messages[number] == 0) return;
      for (const auto& [channel, part] : parts_between(source, target)) {
        load[channel] += static_cast<double>(messages[number]) * part;
      }
    });
  }
  void largest(std::span<const std::uint64_t> messages, const Crossed&,
               std::span<const double> value, std::span<double> largest) const override {
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      if (messages[number] == 0) return;
      largest[number] = 0;
      for (const PartOnChannel& each : parts_between(source, target)) {
        largest[number] = std::max(largest[number], value[each.channel]);
      }
    });
  }
  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      for (const PartOnChannel& each : parts_between(source, target)) {
        if (each.channel == channel) parts[number] = each.part;
      }
    });
    return parts;
  }

 protected:
  /// That of every leaf.
  std::span<const SwitchId> switches() const { return switches_; }

 private:
  FollowedWays(const Fabric& fabric, const Places& places, std::size_t longest,
               std::vector<SwitchId> switches)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(longest, 1), kSprayUnit),
        Ways(Classes(fabric, places, switches)),
        switches_(std::move(switches)) {}

  /// Visits all pairs of leaves, with their number among messages.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    std::size_t number = 0;
    for (const std::uint32_t target : InParts(static_cast<std::uint32_t>(classes()))) {
      for (std::uint32_t source = 0; source < leaves(); ++source) visit(source, target, number++);
    }
  }

  std::vector<SwitchId> switches_;  ///< of every leaf
};

/// From switches as far from the target as each other to those nearer by a cable.
class SprayedDragonfly final : public FollowedWays {
 public:
  SprayedDragonfly(const Fabric& fabric, const Places& places, DragonflyHops hops)
      : FollowedWays(fabric, places, hops.longest(fabric, places.hosts)), hops_(std::move(hops)) {
    for (const SwitchId leaf : switches()) at_.push_back(hops_.at(leaf));
  }

  std::size_t bytes() const override {
    return FollowedWays::bytes() + hops_.bytes() + at_.size() * sizeof(DragonflyHops::At);
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<PartOnChannel> parts;
    if (source == target) return parts;
    const DragonflyHops::At end = at_[target];
    std::vector<PartOnSwitch> here{{at_[source], 1}}, nearer;
    DragonflyHops::Ways ways;
    while (!here.empty()) {
      nearer.clear();
      for (const PartOnSwitch& from : here) {
        hops_.find(from.at, end, ways);
        const double each = from.part / static_cast<double>(ways.size());
        for (const std::uint32_t way : ways) {
          const DragonflyHops::Step step = hops_.step(from.at, way);
          parts.push_back({step.channel, each});
          if (step.to == end) continue;
          const auto met = std::ranges::find(nearer, step.to, &PartOnSwitch::at);
          if (met != nearer.end()) {
            met->part += each;
          } else {
            nearer.push_back({step.to, each});
          }
        }
      }
      here.swap(nearer);
    }
    return parts;
  }

 private:
  struct PartOnSwitch {
    DragonflyHops::At at;
    double part;
  };

  DragonflyHops hops_;
  std::vector<DragonflyHops::At> at_;  ///< switch of every leaf
};

/// Ways lie in a box between two switches, which are followed one after the other for a message.
/// Where a target gets many, all of them are carried there at once, over the whole grid.
class SprayedGrid final : public FollowedWays {
 public:
  SprayedGrid(const Fabric& fabric, const Places& places, const Grid& grid)
      : FollowedWays(fabric, places, grid.longest(fabric, places.hosts)),
        grid_(grid),
        leaf_on_(fabric.switches(), kNone) {
    for (std::uint32_t leaf = 0; leaf < leaves(); ++leaf) leaf_on_[switches()[leaf]] = leaf;
  }

  std::size_t bytes() const override {
    return FollowedWays::bytes() + grid_.bytes() + leaf_on_.size() * sizeof(leaf_on_[0]);
  }

  /// Those that take as long as to carry messages to every target; all where pairs are too many
  /// for a count each.
  std::uint64_t most_followed() const override {
    const std::uint64_t pairs = FollowedWays::most_followed();
    if (pairs > kMostPairs) return pairs;
    double box = 1;
    for (const Grid::Dimension& dimension : grid_.dimensions()) {
      const bool full = dimension.line == Grid::Line::full;
      const double parts = dimension.line == Grid::Line::ring ? 4 : 3;
      box *= full ? 2 : 1 + dimension.size / parts;
    }
    return static_cast<std::uint64_t>(static_cast<double>(leaves() * grid_.switches()) / box);
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    GridBox box(grid_);
    box.lead(switches()[source], switches()[target]);
    std::vector<PartOnChannel> parts(box.channels());
    PartOnChannel* part = parts.data();
    std::vector<double> here(box.switches(), 0);
    here[0] = 1;
    box.for_each([&](const GridBox::Node& node) {
      if (node.ways() == 0) return;
      const double each = here[node.place()] / node.ways();
      node.for_each_way([&](ChannelId channel, std::size_t next) {
        *part++ = {channel, each};
        here[next] += each;
      });
    });
    return parts;
  }

  void spread(std::span<const std::uint64_t> messages, std::span<double> load,
              Crossed&) const override {
    std::vector<double> here;
    for_each_box(messages,
                 [&](const GridBox& box, std::span<const std::uint64_t> sent, std::size_t) {
                   here.assign(box.switches(), 0);
                   box.for_each([&](const GridBox::Node& node) {
                     double flow = here[node.place()];
                     const std::uint32_t leaf = leaf_on_[node.number()];
                     if (leaf != kNone) flow += static_cast<double>(sent[leaf]);
                     if (flow == 0 || node.ways() == 0) return;
                     const double each = flow / node.ways();
                     node.for_each_way([&](ChannelId channel, std::size_t next) {
                       load[channel] += each;
                       here[next] += each;
                     });
                   });
                 });
  }

  void largest(std::span<const std::uint64_t> messages, const Crossed&,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> from;
    for_each_box(messages,
                 [&](const GridBox& box, std::span<const std::uint64_t> sent, std::size_t first) {
                   from.assign(box.switches(), 0);
                   box.for_each_backward([&](const GridBox::Node& node) {
                     double& most = from[node.place()];
                     node.for_each_way([&](ChannelId channel, std::size_t next) {
                       most = std::max({most, value[channel], from[next]});
                     });
                     const std::uint32_t leaf = leaf_on_[node.number()];
                     if (leaf != kNone && sent[leaf] > 0) largest[first + leaf] = most;
                   });
                 });
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    std::vector<double> from;
    const std::vector<std::uint64_t> all(parts.size(), 1);
    for_each_box(all, [&](const GridBox& box, auto, std::size_t first) {
      from.assign(box.switches(), 0);
      box.for_each_backward([&](const GridBox::Node& node) {
        double sum = 0;
        node.for_each_way(
            [&](ChannelId each, std::size_t next) { sum += each == channel ? 1 : from[next]; });
        if (node.ways() > 0) from[node.place()] = sum / node.ways();
        const std::uint32_t leaf = leaf_on_[node.number()];
        if (leaf != kNone) parts[first + leaf] = from[node.place()];
      });
    });
    return parts;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 24;

  /// Visits the grid as it leads to every target that gets some messages.
  template <class Visit>
  void for_each_box(std::span<const std::uint64_t> messages, const Visit& visit) const {
    GridBox box(grid_);
    for_each_target(messages, [&](std::span<const std::uint64_t> sent, std::size_t target) {
      box.lead(switches()[target]);
      visit(box, sent, target * leaves());
    });
  }

  const Grid& grid_;
  std::vector<std::uint32_t> leaf_on_;  ///< by switch
};

/// The ways of searched sets, made only for who asks for them: an EvenTree tells what all messages
/// put on channels.
class SprayedTree final : public SplittingResolver {
 public:
  SprayedTree(const Fabric& fabric, const Places& places, const CompleteTree& tree)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(2 * tree.steps_between(fabric, places.hosts), 1),
                          kSprayUnit),
        fabric_(fabric),
        places_(places),
        tree_(fabric, tree, places) {}

  std::size_t bytes() const override { return tree_.bytes(); }
  const EvenTree* even_tree() const override { return &tree_; }
  bool splits() const override { return true; }
  const Ways* ways() const override {
    std::call_once(asked_, [&] {
      one_by_one_ = make_sprayed_resolver(fabric_, places_, next_hops(fabric_, places_));
    });
    return one_by_one_->ways();
  }
  std::uint64_t work_of_round() const override { return 2 * switch_channels(); }

 private:
  const Fabric& fabric_;
  Places places_;
  EvenTree tree_;
  mutable std::once_flag asked_;
  mutable std::unique_ptr<Resolver> one_by_one_;
};

}  // namespace

EvenTree::EvenTree(const Fabric& fabric, const CompleteTree& tree, const Places& places)
    : steps_(tree.steps_between(fabric, places.hosts)) {
  std::vector<std::uint32_t> first;
  for (std::size_t k = 0; k < steps_; ++k) {
    const CompleteTree::Step& step = tree.steps[k];
    first.push_back(static_cast<std::uint32_t>(bundles_.size()));
    for (std::uint32_t subtree = 0; subtree < tree.leaves / step.leaves; ++subtree) {
      bundles_.push_back({2 * (step.first_cable + subtree * step.cables()), step.cables()});
    }
  }
  above_.reserve(steps_ * places.hosts.size());
  for (const HostId host : places.hosts) {
    for (std::size_t k = 0; k < steps_; ++k) {
      above_.push_back(first[k] + tree.subtree(k, fabric.host_switch(host)));
    }
  }
}

std::unique_ptr<Resolver> make_sprayed_formula(const Fabric& fabric, const Places& places,
                                               const Topology& topology, bool by_groups) {
  if (const auto* const tree = std::get_if<const CompleteTree*>(&topology)) {
    return std::make_unique<SprayedTree>(fabric, places, **tree);
  }
  if (const auto* const dragonfly = std::get_if<const Dragonfly*>(&topology)) {
    return std::make_unique<SprayedDragonfly>(fabric, places,
                                              DragonflyHops(**dragonfly, by_groups));
  }
  if (const auto* const grid = std::get_if<const Grid*>(&topology)) {
    if ((*grid)->switches() != fabric.switches()) throw Error("a grid that belongs to the fabric");
    return std::make_unique<SprayedGrid>(fabric, places, **grid);
  }
  return nullptr;
}

}  // namespace contend
