#pragma once

#include <cstdint>
#include <vector>

#include "contend/fabric/fabric.hpp"

namespace contend {

/// Where the switches of a fabric stand.
struct Levels {
  std::vector<std::uint32_t> of;    ///< by switch, from 1; 0: no host can be reached from it
  std::vector<std::uint8_t> needed; /**< by switch: 1 if it holds hosts or lies on a shortest path
                                       between two that do */
};

/// Levels by what cables are for, not by which switches hold hosts.
///
/// Shortest paths between hosts go up in their first half and come down in their second. Every pair
/// of joined switches is judged by all of them, weighed by hosts and by how far from the middle a
/// path is there: where most say up, it is up; where they disagree, it joins switches of one level.
/// Levels are those by which the most cables lead from one to the next; most hosts hang on level 1.
/// What no shortest path needs stands one below the lowest that it is cabled to, or one above where
/// that is level 1. So does a switch without hosts that is cabled as the leaves on its lines are,
/// if no hosts are nearer to each other by it: shortest paths may lead over an empty leaf as over a
/// spine.
///
/// Where paths do not agree (in a torus what is the first half of one is the second of another),
/// levels are distances from the nearest switch with hosts.
///
/// Deterministic whatever the number of threads. Cost: a breadth-first search from every switch
/// with hosts, of which complete trees need none; from as many of them, evenly spaced, as 2^28
/// steps allow. Two more from each of them where a leaf without hosts stands among spines.
Levels find_levels(const Fabric& fabric);

}  // namespace contend
