#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/fabric/dragonfly.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// The channels that begin a shortest way on a dragonfly, in order of ports: the sets of
/// next_hops() without their memory.
///
/// Two switches are at most three cables apart, and a way of three need not be local, global,
/// local: any that is no longer will do. What leads nearer follows from which groups the global
/// cables of both ends lead to, and from the groups between that have one switch with cables to
/// both. Cost: some ten comparisons where two groups have one cable, more with their number.
/// Memory: a bit for every two groups.
class DragonflyHops {
 public:
  /// A switch.
  struct At {
    std::uint32_t group;
    std::uint32_t number;  ///< in its group
    bool operator==(const At&) const = default;
  };
  /// Ways out of a switch, ascending: to the switch of its group with that number, or, from the
  /// number of switches on, by that of its global channels.
  using Ways = std::vector<std::uint32_t>;
  struct Step {
    ChannelId channel;
    At to;
  };

  /// Where `by_groups`, ways are shortest that cross the fewest global cables; see Measure.
  DragonflyHops(const Dragonfly& dragonfly, bool by_groups);

  At at(SwitchId s) const { return {s / dragonfly_.switches, s % dragonfly_.switches}; }
  SwitchId switch_of(At at) const { return at.group * dragonfly_.switches + at.number; }
  /// No way between some hosts crosses more channels.
  std::size_t longest(const Fabric& fabric, std::span<const HostId> hosts) const;
  /// What leads nearer to another switch.
  void find(At from, At to, Ways& ways) const {
    ways.clear();
    if (from.group == to.group) {
      ways.push_back(to.number);
    } else if (by_groups_) {
      find_by_groups(from, to, ways);
    } else {
      find_by_cables(from, to, ways);
    }
  }
  Step step(At from, std::uint32_t way) const;
  std::size_t bytes() const {
    return channels_.size() * sizeof(Channel) + copies_.size() * sizeof(Range) +
           joint_.size() * sizeof(std::uint64_t);
  }

 private:
  /// Consecutive numbers: of groups or of copies.
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool empty() const { return begin >= end; }
    Range operator&(Range other) const {
      return {std::max(begin, other.begin), std::min(end, other.end)};
    }
  };
  /// A global channel of a group.
  struct Channel {
    std::uint32_t holder;  ///< its switch there
    std::uint32_t copy;
  };

  /// The groups that a switch has channels of a copy to; its own may lie within.
  Range groups_at(At at, std::uint32_t copy) const;
  std::uint32_t holder(std::uint32_t group, std::uint32_t other, std::uint32_t copy) const {
    return channels_[dragonfly_.channel_to(group, other, copy)].holder;
  }
  std::uint32_t way_to(At from, std::uint32_t group, std::uint32_t copy) const {
    return dragonfly_.switches + dragonfly_.channel_to(from.group, group, copy) -
           from.number * dragonfly_.uplinks;
  }
  bool joint(std::uint32_t group, std::uint32_t other) const {
    return (joint_[group * words_ + other / 64] >> other % 64 & 1) != 0;
  }

  template <class Visit>
  void for_each_joint(std::uint32_t group, Range others, const Visit& visit) const;
  template <class Visit>
  void for_each_between(std::uint32_t group, Range copies, std::uint32_t other, Range back,
                        const Visit& visit) const;
  void find_joint();
  bool meet(At from, At to) const;
  void find_by_groups(At from, At to, Ways& ways) const;
  void find_by_cables(At from, At to, Ways& ways) const;
  void find_two(At from, At to, Ways& ways) const;
  void find_three(At from, At to, Ways& ways) const;

  Dragonfly dragonfly_;
  bool by_groups_;
  std::vector<Channel> channels_;     ///< of every group alike
  std::vector<Range> copies_;         ///< by number of a switch: those that it has channels of
  std::size_t words_;                 ///< of joint_, for each group
  std::vector<std::uint64_t> joint_;  ///< by two groups: whether a switch has cables to both
};

}  // namespace contend
