#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace contend {

/// Something that happens at a time.
struct Event {
  enum class Kind : std::uint32_t {
    begin,   ///< a rank begins, or goes on after time has passed
    run,     ///< a strand has kept its processor busy for long enough
    enter,   ///< a message may leave its host's port
    arrive,  ///< a part of a message is at its host
    seen,    ///< and its rank has looked
    handle,  ///< and has had its processor
    sent,    ///< its host has taken over what is left of a message
    piece,   ///< a piece of a message has passed a channel
    leave,   ///< the last byte of a message leaves
    empty    ///< a channel has used up its burst
  };

  double time;
  std::uint64_t number;
  Kind kind;
  std::uint32_t index;
  std::uint32_t version;

  /// Whether it comes after another; events of one time in the order in which they were thought of.
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

/// Events by time: a binary heap.
class Events {
 public:
  void push(double time, Event::Kind kind, std::uint32_t index, std::uint32_t version = 0) {
    heap_.push_back({time, next_++, kind, index, version});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }
  bool empty() const { return heap_.empty(); }
  double next_time() const { return heap_.front().time; }

 private:
  std::vector<Event> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace contend
