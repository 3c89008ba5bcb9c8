#pragma once

#include <cstdint>
#include <memory>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/next_hops.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// What hashes choose by.
struct Hashing {
  /// Parts of a message that are hashed each by itself, as queue pairs are; at least 1.
  std::uint32_t flows = 1;
  /// Whether all switches hash alike. What one has chosen then decides what the next chooses.
  bool alike = false;
};

/// Routes that hashes choose: at every switch a message takes one of the channels that lead on,
/// chosen by a hash of source, target, flow, draw and, unless all hash alike, switch. Parallel
/// cables each count as one, and the same draw gives the same routes. With the shortest ways these
/// are those of Ethernet fabrics (ECMP).
/// Cost: a few multiplications a hop.
std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               NextHops next, const Hashing& hashing = {});

}  // namespace contend
