#pragma once

#include <cstdint>
#include <vector>

#include "contend/fabric/fabric.hpp"

namespace contend::shortest_paths {

constexpr std::uint32_t kFar = 0xFFFFFFFF;

/// Switches that are joined, each pair once in both directions, however many its cables.
struct Neighbours {
  explicit Neighbours(const Fabric& fabric);

  std::size_t switches() const { return begin.size() - 1; }

  std::vector<std::size_t> begin;  ///< first of a switch in `to`
  std::vector<SwitchId> to;
  std::vector<std::uint32_t> cables;
};

/// Distance of every switch from the nearest of some, kFar where there is no way; not over those
/// that are left out, if any are.
std::vector<std::uint32_t> distances(const Neighbours& near, const std::vector<SwitchId>& from,
                                     const std::vector<bool>& left_out);

/// What shortest paths say of joined pairs, by their place in Neighbours.
struct Votes {
  std::vector<double> up;      ///< for up, less those for down
  std::vector<double> spoken;  ///< all of them
  std::vector<std::uint8_t> needed;
};

/// What the shortest paths from switches with hosts say; from as many of these, evenly spaced, as
/// can be afforded. `hosts` counts those of every switch.
Votes all_votes(const Neighbours& near, const std::vector<double>& hosts,
                const std::vector<SwitchId>& seats);

}  // namespace contend::shortest_paths
