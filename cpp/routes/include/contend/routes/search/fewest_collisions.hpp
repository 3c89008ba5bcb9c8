#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/engines/engines.hpp"

namespace contend {

/// What fewest_collisions goes by, borrowed.
struct CollisionTerms {
  /// What a message costs on a cable: 1 on the fastest, more on slower ones. Empty: 1 on all.
  std::span<const std::uint32_t> cable_cost;
  /// What the hosts of a switch send to a host, row-major [hosts][switches]. Empty: every host
  /// sends 1 to every other.
  std::span<const std::uint32_t> demand;
  /// How many virtual lanes may be used.
  std::uint32_t lanes = 1;
};

/// Forwarding tables of which every destination's routes keep to one virtual lane.
struct LanedTables {
  Tables tables;
  std::vector<std::uint8_t> lane;  ///< by address; 0 where nobody has it
};

/// Tables that make few messages between random pairs of hosts collide, free of deadlock: on each
/// lane, no channels wait for each other in a circle.
///
/// Descent: the price of a channel is what the other destinations send over it. One destination
/// after the other gets the tree of fewest hops and, among those, of the least sum of prices over
/// what is sent to it, and keeps its present links where others are no better. That lowers
/// sum over channels of (pairs^2 - pairs of the same destination^2), which counts the pairs of
/// messages that may meet.
///
/// Trees (see tree_fault) begin with d_mod_k and take only routes that go up, then down, where
/// there are some. Elsewhere one begins with trees of least price without any bounds, whose turns
/// from channel to channel are then allowed by what they carry, heaviest first, as long as no
/// circle closes; those of a spanning tree come before them, so that everybody can be reached.
/// Several spanning trees, and dimension order, are tried but for what is far behind after a round,
/// and the one with the fewest collisions is improved further, by trees whose turns close no circle
/// with those of all others. Prices there leave out what the source itself sends.
///
/// Deterministic, on one core. Cost: rounds x addresses x links; outside trees also, per address,
/// the rearrangements of ChannelOrder. Memory: two bytes per address and switch beside the tables;
/// outside trees also four per link and switch with hosts, up to 64 MiB, for each of four tables at
/// once.
LanedTables fewest_collisions(const Fabric& fabric, const Targets& targets,
                              const CollisionTerms& terms);

}  // namespace contend
