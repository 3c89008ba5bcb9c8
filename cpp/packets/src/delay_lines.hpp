#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "contend/packets/ring.hpp"

namespace contend::packets {

using Time = std::uint64_t;  ///< picoseconds

inline constexpr Time kNever = std::numeric_limits<Time>::max();
inline constexpr double kTicksPerSecond = 1e12;

/// A packet has left over `channel`; or, where `step` is given, its first bits have come, or word
/// of room.
struct PacketEvent {
  Time time;
  std::uint32_t channel;
  std::uint32_t step;
};

/// Events in the order of their time, without a heap: what lasts equally long ends in the order in
/// which it began, so every duration has a queue of its own, and the next event is the first of one
/// of a few queues.
class DelayLines {
 public:
  DelayLines() : lines_(1), first_(1, kNever) {}

  /// The line of a duration.
  std::uint32_t add(Time delay) {
    for (std::uint32_t line = 1; line < lines_.size(); ++line) {
      if (lines_[line].delay == delay) return line;
    }
    lines_.push_back({});
    lines_.back().delay = delay;
    first_.push_back(kNever);
    return static_cast<std::uint32_t>(lines_.size() - 1);
  }

  /// An event before all others, given in the order of their times.
  void start(const PacketEvent& event) { put_last(0, event); }

  void put(std::uint32_t line, Time now, PacketEvent event) {
    event.time = now + lines_[line].delay;
    put_last(line, event);
  }

  /// The next event; null when nothing happens any more.
  const PacketEvent* next() {
    current_ = 0;
    for (std::uint32_t line = 1; line < first_.size(); ++line) {
      if (first_[line] < first_[current_]) current_ = line;
    }
    if (first_[current_] == kNever) return nullptr;
    return &lines_[current_].events.front();
  }

  /// The line of that one.
  const Ring<PacketEvent>& current() const { return lines_[current_].events; }

  /// Takes away what next() gave.
  void pop() {
    Ring<PacketEvent>& events = lines_[current_].events;
    events.pop();
    first_[current_] = events.empty() ? kNever : events.front().time;
  }

 private:
  struct Line {
    Time delay = 0;
    Ring<PacketEvent> events;
  };

  void put_last(std::uint32_t number, const PacketEvent& event) {
    Ring<PacketEvent>& events = lines_[number].events;
    if (events.empty()) first_[number] = event.time;
    events.push(event);
  }

  std::vector<Line> lines_;
  std::vector<Time> first_;  ///< by line, side by side
  std::uint32_t current_ = 0;
};

}  // namespace contend::packets
