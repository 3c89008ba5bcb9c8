#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/packets/packet_routes.hpp"

namespace contend {

/// How a switch keeps the packets that came over one channel.
enum class Queueing : std::uint8_t {
  kInOrder,   ///< one queue: the first packet holds up all behind it
  kByOutput,  ///< one queue for each channel out of the switch (virtual output queues), in one
              ///< buffer
};

/// A lossless network that forwards packets as soon as their first bits are there (virtual
/// cut-through). A packet leaves for a channel only when the buffer at its far end has room for all
/// of it; of several that wait for one channel, the one that has waited longest goes first.
struct PacketModel {
  Queueing queueing = Queueing::kInOrder;
  /// Packets that the far end of a channel holds of each lane; 0 for any number.
  std::uint32_t buffer = 16;
  double packet_bytes = 4096;
  /// Seconds from a packet's first bit at a switch until it can leave it.
  double latency = 150e-9;
  /// Seconds that bits take along the cable of every channel, and that word of room takes back;
  /// none where it is empty.
  std::vector<double> flight;
  /// Packets that every message has; 0 lets hosts send for ever.
  std::uint32_t message_packets = 0;
  /// Whether two messages of opposite ends are an exchange, the next of which begins as soon as
  /// both have come whole, for ever; only looked at for messages with packets.
  bool exchanges = false;
  /// Hosts that send for ever: measured from the first to the second, in packets of the slowest
  /// port; in messages of it where they are exchanged.
  double from = 256;
  double until = 768;
  /// Whether a host with several messages draws whose packet is next; else they take turns.
  bool drawn = false;
  /// Of all random choices.
  std::uint64_t seed = 1;
  /// Whether all hosts start at the same moment; else each at one of its own, as a cluster has no
  /// common clock.
  bool together = false;
  /// Channels of which every wait is told.
  std::vector<std::uint32_t> watched;
};

/// A message whose packets came over one channel and waited there to go on by another.
struct PacketWait {
  std::uint32_t message;
  std::uint32_t over;
  std::uint32_t on;
  double first;    ///< share of the time in which one of its packets was the next, and waited
  double packets;  ///< of it that waited there, in the mean over time; those behind others, too
};

/// What became of simultaneous messages.
struct PacketFlows {
  /// What every message got of the slower of its two hosts' ports; 1 from a place to itself. Of
  /// messages with an end: from the start until their last packet was there.
  std::vector<double> share;
  /// Per message, the channel of its route in front of which its packets waited longest, and the
  /// share of the time that they did; the number of channels where none ever waited.
  std::vector<std::uint32_t> held_up;
  std::vector<double> waited;
  /// Per channel, the share of the time that it carried packets, and that it could not for want of
  /// room at its far end though some waited.
  std::vector<double> busy;
  std::vector<double> blocked;
  /// Per channel, the one for which packets that came over it waited longest in all; the number of
  /// channels where none waited.
  std::vector<std::uint32_t> then;
  /// Packets in the network that can never move again wait for each other in a circle: its channels
  /// one after the other. Empty where there is none.
  std::vector<std::uint32_t> circle;
  /// Of messages that came over a watched channel or went on by it, those that waited.
  std::vector<PacketWait> waits;
  /// Of detours: every channel that packets crossed since measuring began, once for each message
  /// that crossed it, and these messages; without hosts' own channels into the network.
  std::vector<std::uint32_t> crossed;
  std::vector<std::uint32_t> crossed_by;
  /// Channels that packets crossed, one by one.
  std::uint64_t hops = 0;
};

/// Carries messages out packet by packet. `rate`: bytes per second of every channel, between
/// switches, then injection and ejection by place. Throws Error where there are not as many, or a
/// channel carries nothing.
///
/// Cost: about 50 ns for every packet and channel; memory for the packets that are under way.
PacketFlows packet_flows(const PacketRoutes& routes, std::span<const double> rate,
                         const PacketModel& model);

}  // namespace contend
