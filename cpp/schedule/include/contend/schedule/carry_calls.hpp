#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "contend/packets/packets.hpp"
#include "contend/packets/streams.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/schedule/schedule.hpp"

namespace contend {

/// Bytes of the largest message that fits in a header.
inline constexpr double kShortMessage = 64;

/// A schedule carried out call after call by packets.
struct Calls {
  std::span<const std::uint32_t> place_of_rank;
  std::span<const double> rate;  ///< bytes per second by channel: between switches, then of places
  /// When every rank begins, a row for each call: seconds after all have ended the one before.
  std::span<const double> starts;
  /// Messages of more bytes ask their receiver and are sent when it has answered.
  double eager = 64 << 10;
};

/// Calls over TCP. Two ranks have a stream each way.
struct StreamedCalls : Calls {
  std::span<const std::uint32_t> switch_of;
  /// Whether nothing is carried out after a call with a time-out.
  bool until_timeout = false;
  StreamModel model;
};

/// What became of every call, and of packets in all of them.
struct StreamedOutcome {
  std::vector<double> seconds;  ///< from the first rank's beginning to the last one's end
  std::vector<std::uint64_t> timeouts;
  /// The channel that first dropped a packet in each call, the number of channels without any, and
  /// how long after the call's beginning.
  std::vector<std::uint32_t> first_channel;
  std::vector<double> first_at;
  /// By channel: packets that found its queue full, and the most bytes that waited.
  std::vector<std::uint64_t> drops;
  std::vector<double> most;
};

/// Windows and round-trip times of streams stay from call to call. A send has ended when its host
/// has taken all of it over: at once what is eager, otherwise when all but 64 KiB is known to have
/// come. Throws Error as match(), for a call that cannot end, or for what does not fit. The same
/// input gives the same output to the bit.
///
/// Cost: a heap operation for every packet and channel, answers included.
StreamedOutcome carry_streams(const Schedule& schedule, const Resolver& resolver,
                              const StreamedCalls& calls);

/// Calls over a lossless network.
struct LosslessCalls : Calls {
  double overhead = 0;  ///< seconds of a rank for each message that it sends
  PacketModel model;
};

/// What became of every call, and of channels in all of them.
struct LosslessOutcome {
  std::vector<double> seconds;  ///< as of StreamedOutcome; fewer than calls if packets lock up
  /// By channel, the share of the time that it carried packets, and that it could not for want of
  /// room though some waited.
  std::vector<double> busy;
  std::vector<double> blocked;
  std::vector<std::uint32_t> circle;  ///< as of PacketFlows
  std::uint64_t hops = 0;
};

/// Messages of a schedule as streams of a lossless network: their ends, those of one pair of ranks
/// in one. What fits in a header (empty messages, and those that ask and answer) has streams of its
/// own, behind all others.
struct StreamEnds {
  std::vector<Place> source;
  std::vector<Place> target;
  std::uint32_t first_short;
};
StreamEnds stream_ends(const Schedule& schedule, const Calls& calls);

/// `routes` between stream_ends(). Messages of more than calls.eager bytes go when their receive
/// has been posted. A send has ended when its host has taken it over: at once what is eager,
/// otherwise when all has come. Throws Error as carry_streams(). The same input gives the same
/// output to the bit. Cost: as of packet_flows().
LosslessOutcome carry_lossless(const Schedule& schedule, const PacketRoutes& routes,
                               const LosslessCalls& calls);

}  // namespace contend
