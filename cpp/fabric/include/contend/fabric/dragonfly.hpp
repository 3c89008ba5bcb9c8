#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "contend/fabric/fabric.hpp"

namespace contend {

/// A dragonfly of which nothing is missing: groups of switches that are all joined, and as many
/// global cables between any two groups. Hosts are on any switches.
///
/// The global channels of a group are numbered switch by switch; channel c leads to the group that
/// is number c mod (groups - 1) among the others (absolute arrangement). Switches are numbered by
/// group. Cables within groups come first, by group and both their switches; then the global ones,
/// by which of those between two groups each is, and by both groups. Ports of a switch lead to the
/// others of its group in their order, and then by its global channels.
///
/// (Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008;
/// Hastings et al., Comparing global link arrangements for dragonfly networks, CLUSTER 2015.)
struct Dragonfly {
  std::uint32_t groups = 0;
  std::uint32_t switches = 0;  ///< of each group
  std::uint32_t uplinks = 0;   ///< global channels of a switch; the last of a group may have fewer
  std::uint32_t copies = 0;    ///< cables between any two groups

  /// Global channels of each group.
  std::uint32_t channels() const { return copies * (groups - 1); }
  /// Which of the global channels of a group leads to another.
  std::uint32_t channel_to(std::uint32_t group, std::uint32_t other, std::uint32_t copy) const {
    return copy * (groups - 1) + other - (other > group ? 1 : 0);
  }
  /// The channel from a switch of a group to another, by their numbers there.
  ChannelId local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const {
    return directed(std::size_t{group} * pairs(switches), switches, from, to);
  }
  /// The channel from a group to another.
  ChannelId global(std::uint32_t group, std::uint32_t other, std::uint32_t copy) const {
    return directed(groups * pairs(switches) + copy * pairs(groups), groups, group, other);
  }

  /// How many pairs there are of so many.
  static std::size_t pairs(std::size_t count) { return count * (count - 1) / 2; }

 private:
  /// Cables from `first` on join all pairs of so many, in their order.
  static ChannelId directed(std::size_t first, std::size_t count, std::size_t from,
                            std::size_t to) {
    const std::size_t low = from < to ? from : to, high = from < to ? to : from;
    const std::size_t cable = first + low * (2 * count - low - 1) / 2 + high - low - 1;
    return static_cast<ChannelId>(2 * cable + (from > to ? 1 : 0));
  }
};

/// The fabric as a dragonfly; null where it is none, or is numbered otherwise.
/// Cost: one look at every cable.
std::unique_ptr<Dragonfly> find_dragonfly(const Fabric& fabric);

}  // namespace contend
