#pragma once

#include <cstdint>
#include <limits>

#include "delay_lines.hpp"

namespace contend::packets {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// In place of a step: word has come of room at the far end of a channel.
inline constexpr std::uint32_t kCredit = kNone - 1;

struct List {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

/// A packet in a buffer.
struct Cell {
  /// Its step on the channel that it came over; with a queue for every output, where it goes on.
  std::uint32_t what;
  std::uint32_t behind;  ///< the packet behind it in its queue
};

/// Packets at the far end of a channel; the first stays until all of it has left the switch.
struct Queue {
  List packets;
  std::uint32_t over = kNone;    ///< the channel that they came over
  std::uint32_t behind = kNone;  ///< the queue that waits after this one for the same channel
  std::uint32_t choice = 0;      ///< where the first packet goes on
  Time since = 0;                ///< when it was the first to be there
};

struct Channel {
  std::uint32_t room = 0;         ///< packets that its far end still takes
  std::uint32_t carries = kNone;  ///< the queue whose packet is leaving over it; kNone: it is idle
  List waiting;                   ///< queues whose first packet waits for it
  std::uint32_t free = kNone;     ///< an empty cell at its far end
  std::uint32_t chosen = 0;       ///< packets that have chosen it and not left
  std::uint32_t sent = 0;         ///< since measuring began
  std::uint32_t kind = 0;         ///< of its rate
  Time blocked_since = kNever;
};

}  // namespace contend::packets
