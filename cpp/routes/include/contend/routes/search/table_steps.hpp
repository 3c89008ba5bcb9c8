#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/search/fewest_collisions.hpp"

namespace contend {

/// One entry of forwarding tables that changes.
struct TableStep {
  SwitchId at;
  Address address;
  PortNumber before;
  PortNumber after;
};

/// Improves tables that run by changing few entries, one after the other, each at most once; the
/// entry that saves most collisions comes first.
///
/// After every step all routes that arrived still do, by no more hops than before. No channels
/// wait for each other in a circle: the turns of all steps and of the tables before close none
/// together, so that messages that are still under way by former entries do no harm. The same
/// holds on the way back.
///
/// `most`: how many entries may change. `open`, by switch: whether those of a switch may; empty: of
/// all. Throws Error when tables do not belong to the fabric, when
/// they have a circle already, or a route between two hosts that are joined does not arrive.
/// Algorithm: a heap of what every entry would save, looked at again when its turn comes, and what
/// goes over every switch to every address. Cost: addresses x links to begin with, switches x hops
/// a step and, many times as often, the links of a switch x hops.
std::vector<TableStep> table_steps(const Fabric& fabric, const Targets& targets,
                                   const Tables& tables, const CollisionTerms& terms,
                                   std::size_t most, std::span<const std::uint8_t> open = {});

}  // namespace contend
