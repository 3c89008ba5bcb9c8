#pragma once

#include <memory>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Routes as Ethernet fabrics have them (ECMP): at every switch a message takes one of the cables
/// that begin a shortest way to its target's switch, chosen by a hash of source, target, switch and
/// draw. Every switch hashes for itself, parallel cables each count as one, and the same draw gives
/// the same routes.
/// Cost: one search of the switches and one look at all channels for each switch with hosts that
/// take part; then a few multiplications a hop. Memory: four bytes for each such switch and switch.
/// Throws UnreachableError when no way joins two of the hosts.
std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places);

}  // namespace contend
