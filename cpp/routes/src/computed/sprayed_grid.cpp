#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"
#include "contend/routes/computed/grid_hops.hpp"
#include "followed_ways.hpp"
#include "grid_box.hpp"

namespace contend {

namespace {

/// Ways lie in a box between two switches, which are followed one after the other for a message.
/// Where a target gets many, all of them are carried there at once, over the whole grid.
class SprayedGrid final : public FollowedWays {
 public:
  SprayedGrid(const Fabric& fabric, const Grid& grid, const Places& places)
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

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed&) const override {
    std::vector<double> here;
    for_each_target([&](const GridBox& box, std::size_t first) {
      if (!any(messages.subspan(first, leaves()))) return;
      here.assign(box.switches(), 0);
      box.for_each([&](const GridBox::Node& node) {
        double flow = here[node.place()];
        const std::uint32_t leaf = leaf_on_[node.number()];
        if (leaf != kNone) flow += messages[first + leaf];
        if (flow == 0 || node.ways() == 0) return;
        const double each = flow / node.ways();
        node.for_each_way([&](ChannelId channel, std::size_t next) {
          load[channel] += each;
          here[next] += each;
        });
      });
    });
  }

  void largest(std::span<const std::uint32_t> messages, const Crossed&,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> from;
    for_each_target([&](const GridBox& box, std::size_t first) {
      if (!any(messages.subspan(first, leaves()))) return;
      from.assign(box.switches(), 0);
      box.for_each_backward([&](const GridBox::Node& node) {
        double& most = from[node.place()];
        node.for_each_way([&](ChannelId channel, std::size_t next) {
          most = std::max({most, value[channel], from[next]});
        });
        const std::uint32_t leaf = leaf_on_[node.number()];
        if (leaf != kNone && messages[first + leaf] > 0) largest[first + leaf] = most;
      });
    });
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    std::vector<double> from;
    for_each_target([&](const GridBox& box, std::size_t first) {
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

  static bool any(std::span<const std::uint32_t> messages) {
    return std::ranges::any_of(messages, [](std::uint32_t count) { return count > 0; });
  }

  /// Visits the grid as it leads to every target, with the number of its first pair.
  template <class Visit>
  void for_each_target(const Visit& visit) const {
    GridBox box(grid_);
    for (const std::size_t target : InParts(classes())) {
      box.lead(switches()[target]);
      visit(box, target * leaves());
    }
  }

  const Grid& grid_;
  std::vector<std::uint32_t> leaf_on_;  ///< by switch
};

}  // namespace

std::unique_ptr<Resolver> make_sprayed_grid_resolver(const Fabric& fabric, const Grid& grid,
                                                     const Places& places) {
  if (grid.switches() != fabric.switches()) throw Error("a grid that belongs to the fabric");
  return std::make_unique<SprayedGrid>(fabric, grid, places);
}

}  // namespace contend
