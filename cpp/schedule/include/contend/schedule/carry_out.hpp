#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "contend/schedule/schedule.hpp"

namespace contend {

// Schedules carried out over time by the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman,
// "LogGP: incorporating long messages into the LogP model", 1995), whose G, the time of a byte, is
// what a message's max-min fair share of its channels leaves it, and whose latency grows with what
// is under way on them (Hoefler, Schneider, Lumsdaine 2008, section 3.1).

/// What messages of up to so many bytes cost, within a host or between two. Seconds and bytes.
struct MessageClass {
  double up_to = 0;
  double latency = 0;           ///< from the last byte's leaving to its being there
  double latency_per_hop = 0;   ///< more, for each channel between switches
  double send_overhead = 0;     ///< of the sender's processor
  double send_per_byte = 0;     ///< the same, for each byte
  double receive_overhead = 0;  ///< of the receiver's processor
  double receive_per_byte = 0;
  double gap = 0;       ///< between the beginnings of two messages that leave one host
  double extra = 0;     ///< bytes on the wire beside the message's own
  double stretch = 1;   ///< bytes on the wire for each of the message's
  bool eager = true;    ///< goes off at once; otherwise when its receive has been posted
  double buffered = 0;  ///< bytes that its host takes over: a send ends when so many are left
};

/// Hosts and channels. Channels are numbered as those of a resolver, injection and ejection by
/// place behind them, and then every place's memory.
struct Network {
  const Resolver& resolver;
  std::vector<Place> place_of_rank;
  /// Bytes per second; of a place's memory, those of messages within it.
  std::vector<double> rate;
  /// Bytes that pass a channel at `peak` after a pause, and are made up for at its rate.
  std::vector<double> burst;
  /// Bytes of the pieces in which messages cross channels, each piece as a whole and behind what
  /// came before it, as through queues of switches; 0 where they are flows, which share channels.
  double piece = 0;
  double peak = 0;
};

struct Costs {
  std::vector<MessageClass> between;  ///< hosts; ascending, the last one for all above
  std::vector<MessageClass> within;   ///< a host
  /// Processors by rank, those of equal number shared, and how many of them there are of each.
  std::vector<std::uint32_t> processor_of_rank;
  std::vector<std::uint32_t> processors;
  /// A rank that waits sees at once what comes; after so many seconds it looks only every so often.
  double patience = 0;
  double look_every = 0;
  /// When every rank begins; empty when all begin at 0.
  std::vector<double> start;
};

struct Outcome {
  std::vector<double> rank_end;       ///< when the last operation of every rank ended
  std::vector<double> operation_end;  ///< when every operation ended; of sends and receives, what
                                      ///< they began
  std::vector<double> channel_bytes;
  std::vector<double> channel_busy;  ///< seconds in which something was under way
  /// The messages under way over a channel at once when these had most bytes, and those bytes.
  std::vector<std::uint32_t> channel_crowd;
  std::vector<double> channel_crowd_bytes;
  double end = 0;
  std::uint64_t messages = 0;
  std::uint64_t fills = 0;  ///< how often shares were found anew
};

/// Carries a schedule out to its end.
///
/// A send takes the processor for its overhead, waits for the gap of its host's port, then for what
/// went before it from its rank to the other, then its pieces are in line at one channel of its
/// route after the other, or it is a flow there. It has ended as it has left its processor (eager)
/// or its host. One that is not eager first asks, and is answered when its receive has been posted;
/// both wait behind what is under way. A receive takes its processor for its overhead when the
/// message is there.
///
/// Throws Error as match(), for a network or costs that do not fit, and, naming rank and operation,
/// when all wait for each other. The same input gives the same output to the bit.
///
/// Cost: a heap operation for each step of a message or piece, and Flows::fill() for what begins
/// and ends.
Outcome carry_out(const Schedule& schedule, const Network& network, const Costs& costs);

}  // namespace contend
