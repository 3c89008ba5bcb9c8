#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routed_traffic.hpp"

namespace contend {

/// All shortest routes to one switch after the other that go up, then down, and the cheapest of
/// them.
///
/// No two switches are equally high. A switch from which one can go down to the destination does
/// not go up first, so that whoever comes down to it may go on. Such routes never wait for each
/// other in a circle.
class UpDownWays {
 public:
  /// `height`: of every switch, all numbers below the number of switches once.
  UpDownWays(const SwitchLinks& links, std::vector<std::uint32_t> height);

  /// Finds the ways to a switch. Cost: linear in links.
  void lead_to(SwitchId destination);
  /// Whether there is a way to it from a switch.
  bool reach_from(SwitchId s) const { return hops_[s] != kFar; }
  /// Gives destination d, which hangs on that switch and is off the links, the cheapest ways; its
  /// present ones where none is cheaper. True if any changed. Cost: linear in the ways.
  bool take_cheapest(RoutedTraffic& traffic, std::size_t d);

  /// For every link a rank that grows along all such routes.
  std::vector<std::uint32_t> link_ranks() const;

 private:
  static constexpr std::uint32_t kFar = 0xFFFFFFFF;

  void collect(SwitchId s, bool up);

  const SwitchLinks* links_;
  std::vector<std::uint32_t> height_;  ///< by switch
  std::vector<SwitchId> at_height_;
  std::vector<std::uint32_t> hops_;  ///< by switch
  std::vector<std::uint64_t> cost_;  ///< by switch
  std::vector<SwitchId> order_;      ///< switches that have ways, each after those it goes on to
  std::vector<std::size_t> begin_;   ///< first way of each of them
  std::vector<LinkId> ways_;
};

/// Heights by distance from the nearest of some switches, by number where that is equal.
std::vector<std::uint32_t> heights_above(const SwitchLinks& links,
                                         std::span<const SwitchId> lowest);

/// Link ranks of routes up towards a root, then down.
std::vector<std::uint32_t> ranks_towards(const SwitchLinks& links, SwitchId root);

}  // namespace contend
