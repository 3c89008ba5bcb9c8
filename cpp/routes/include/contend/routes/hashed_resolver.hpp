#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// The channels that begin a shortest way to the switches of places. Sets of channels are kept
/// once, as most targets share theirs; set 0 is empty.
struct NextHops {
  /// Switches with hosts that take part, ascending.
  std::vector<SwitchId> leaves;
  /// By leaf and switch: the number of the set that leads from the switch to the leaf; 0 at the
  /// leaf itself and where no way leads there.
  std::vector<std::uint32_t> set_of;
  /// Where every set begins among the members, and where the last one ends.
  std::vector<std::uint32_t> first{0, 0};
  std::vector<ChannelId> members;
  /// Channels of the longest of the shortest ways between the leaves.
  std::size_t hops = 0;

  std::span<const ChannelId> of_set(std::uint32_t set) const {
    return {members.data() + first[set], first[set + 1] - first[set]};
  }
};

/// Finds them. Cost and errors as below. Where `rest` is given: on what is left of the fabric,
/// whose channels and switches keep their numbers; hosts that are gone have no ways.
NextHops next_hops(const Fabric& fabric, const Places& places, const Remains* rest = nullptr);

/// What hashes choose by.
struct Hashing {
  /// Parts of a message that are hashed each by itself, as queue pairs are; at least 1.
  std::uint32_t flows = 1;
  /// Whether all switches hash alike. What one has chosen then decides what the next chooses.
  bool alike = false;
};

/// Routes as Ethernet fabrics have them (ECMP): at every switch a message takes one of the cables
/// that begin a shortest way to its target's switch, chosen by a hash of source, target, flow, draw
/// and, unless all hash alike, switch. Parallel cables each count as one, and the same draw gives
/// the same routes.
/// Cost: one search of the switches and one look at all channels for each switch with hosts that
/// take part; then a few multiplications a hop. Memory: four bytes for each such switch and switch.
/// Throws UnreachableError when no way joins two of the hosts. `rest` as of next_hops().
std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               const Hashing& hashing = {},
                                               const Remains* rest = nullptr);

}  // namespace contend
