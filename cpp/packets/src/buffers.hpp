#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "contend/base/large_array.hpp"
#include "contend/packets/packet_routes.hpp"
#include "delay_lines.hpp"

namespace contend::packets {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// In place of a step: word has come of room at the far end of a channel.
inline constexpr std::uint32_t kCredit = kNone - 1;

struct List {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

/// Packets at the far end of a channel; the first stays until all of it has left the switch.
struct Queue {
  List packets;                  ///< cells of those behind the first
  std::uint32_t behind = kNone;  ///< the queue that waits after this one for the same channel
  std::uint32_t choice = kNone;  ///< where the first packet goes on; kNone: there is none
  Time since = 0;                ///< when it was the first to be there
};

/// An event looks at a channel and at its far end, both anywhere in memory, so they share a line of
/// the cache.
struct alignas(64) Channel {
  std::uint32_t room = 0;         ///< packets that its far end still takes
  std::uint32_t carries = kNone;  ///< the queue whose packet is leaving over it; kNone: it is idle
  List waiting;                   ///< queues whose first packet waits for it
  std::uint32_t chosen = 0;       ///< packets that have chosen it and not left
  std::uint32_t sent = 0;         ///< since measuring began
  std::uint32_t kind = 0;         ///< of its rate
  Time blocked_since = kNever;
  Queue queue;  ///< where all packets at its far end are in one
};
static_assert(sizeof(Channel) == 64);

/// Channels by lane, and the packets at their far ends. A queue has the number of its channel, or
/// where channels have several, one of its own. A packet is its step on the channel that it came
/// over; with a queue for every output, where it goes on.
class Buffers {
 public:
  /// `room` packets at each far end; 0 for any number.
  Buffers(const PacketRoutes& routes, std::uint32_t room, bool by_output);

  std::uint32_t size() const { return static_cast<std::uint32_t>(channels_.size()); }
  Channel& operator[](std::uint32_t channel) { return channels_[channel]; }
  const Channel& operator[](std::uint32_t channel) const { return channels_[channel]; }

  Queue& queue(std::uint32_t number) {
    return by_output_ ? queues_[number] : channels_[number].queue;
  }
  const Queue& queue(std::uint32_t number) const {
    return by_output_ ? queues_[number] : channels_[number].queue;
  }
  std::uint32_t queues() const {
    return by_output_ ? static_cast<std::uint32_t>(queues_.size()) : size();
  }
  /// The channel that packets of a queue came over.
  std::uint32_t over(std::uint32_t number) const {
    return by_output_ ? queues_[number].over : number;
  }
  /// The queue of packets that came over a channel and go on by a choice, onto another channel.
  std::uint32_t queue_of(std::uint32_t over, std::uint32_t choice, std::uint32_t onto) const {
    if (!by_output_) return over;
    if (detours_ == nullptr) return queue_of_[choice];
    return first_queue_[over] + detours_->number_of(onto);
  }

  /// Puts a packet in a queue, behind others. The first has no cell: where few packets wait, none
  /// is touched.
  void push(Queue& queue, std::uint32_t packet) {
    std::uint32_t cell = free_;
    if (cell == kNone) {
      cell = static_cast<std::uint32_t>(cells_.size());
      cells_.push_back({packet, kNone});
    } else {
      free_ = cells_[cell].behind;
      cells_[cell] = {packet, kNone};
    }
    if (queue.packets.first == kNone) {
      queue.packets.first = cell;
    } else {
      cells_[queue.packets.last].behind = cell;
    }
    queue.packets.last = cell;
  }

  /// The first packet of a queue has left: the one behind it, which is no longer in a cell; kNone:
  /// there is none.
  std::uint32_t pop(Queue& queue) {
    queue.choice = kNone;
    const std::uint32_t cell = queue.packets.first;
    if (cell == kNone) return kNone;
    queue.packets.first = std::exchange(cells_[cell].behind, free_);
    // Empty cells that were used last are in the cache, and are used next.
    free_ = cell;
    return cells_[cell].packet;
  }

  /// Calls look(packet) for every packet behind the first one.
  template <class Look>
  void for_each_behind(const Queue& queue, const Look& look) const {
    for (std::uint32_t c = queue.packets.first; c != kNone; c = cells_[c].behind) {
      look(cells_[c].packet);
    }
  }

  // Fetch memory for later.

  void fetch(std::uint32_t channel) const { prefetch(&channels_[channel]); }
  void fetch_queue(std::uint32_t number) const { prefetch(&queue(number)); }
  void fetch_queue_of(std::uint32_t choice) const {
    if (by_output_ && detours_ == nullptr) prefetch(&queue_of_[choice]);
  }
  void fetch_second(std::uint32_t number) const {
    if (by_output_) fetch(over(number));
    const std::uint32_t cell = queue(number).packets.first;
    if (cell != kNone) prefetch(&cells_[cell]);
  }
  std::uint32_t second(std::uint32_t number) const {
    const std::uint32_t cell = queue(number).packets.first;
    return cell == kNone ? kNone : cells_[cell].packet;
  }

 private:
  struct Cell {
    std::uint32_t packet;
    std::uint32_t behind;  ///< the cell of the packet behind it in its queue
  };
  struct OutputQueue : Queue {
    std::uint32_t over = kNone;
  };

  void make_queues(const PacketRoutes& routes);

  const Detours* const detours_;
  const bool by_output_;
  LargeArray<Channel> channels_;
  LargeArray<OutputQueue> queues_;
  std::vector<std::uint32_t> queue_of_;     ///< by choice
  std::vector<std::uint32_t> first_queue_;  ///< by channel and lane, of detours
  LargeArray<Cell> cells_;
  std::uint32_t free_ = kNone;  ///< an empty cell; those behind it are, too
};

}  // namespace contend::packets
