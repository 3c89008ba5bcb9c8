#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "contend/congestion/flows.hpp"
#include "contend/schedule/carry_out.hpp"

namespace contend {

namespace {

/// The least part of its burst that a channel lets pass at once: packets are not divided, and less
/// would have shares found anew for nothing.
constexpr double kLeast = 1.0 / 16;

}  // namespace

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

/// Channels that let a burst pass at once after a pause, as a token bucket does, and how long each
/// was busy.
class Buckets {
 public:
  Buckets(const Network& network, Flows& flows) : network_(network), flows_(flows) {
    bucket_.reserve(network.burst.size());
    for (const double burst : network.burst) bucket_.push_back({burst});
  }

  /// What is no flow comes to a channel, behind all that has; returns when it passes, as a whole.
  double line_up(std::uint32_t channel, double bytes, double now) {
    bring_up(channel, now);
    Bucket& bucket = bucket_[channel];
    bucket.left -= bytes;
    if (bucket.taken) return now;
    bucket.busy += bytes / network_.rate[channel];
    return now + std::max(-bucket.left, 0.0) / network_.rate[channel];
  }

  /// Seconds until what stands in line there has passed.
  double wait(std::uint32_t channel, double now) const {
    const Bucket& bucket = bucket_[channel];
    if (bucket.taken) return 0;
    return std::max(-bucket.left / network_.rate[channel] - (now - bucket.updated), 0.0);
  }

  /// Brings gathered channels up to now, and says at which rate each of them goes on.
  void before_fill(std::span<const std::uint32_t> channels, double now) {
    channels_ = channels;
    for (const std::uint32_t channel : channels) {
      bring_up(channel, now);
      bucket_[channel].taken = flows_.count(channel) > 0;
      const double burst = network_.burst[channel];
      if (burst == 0) continue;
      const bool at_once = bucket_[channel].left > kLeast * burst;
      flows_.set_rate(channel, at_once ? network_.peak : network_.rate[channel]);
    }
  }

  /// Foresees when their bursts will be used up.
  void after_fill(double now, Events& events) {
    for (const std::uint32_t channel : channels_) {
      if (network_.burst[channel] == 0) continue;
      Bucket& bucket = bucket_[channel];
      bucket.used = flows_.used(channel);
      ++bucket.version;
      const double more = bucket.used - network_.rate[channel];
      if (more > 1e-9 * network_.rate[channel]) {
        const double left = std::max(bucket.left, 0.0);
        events.push(now + left / more, Event::Kind::empty, channel, bucket.version);
      }
    }
  }

  bool is_current(std::uint32_t channel, std::uint32_t version) const {
    return bucket_[channel].version == version;
  }
  /// Seconds in which something was under way, by channel.
  std::vector<double> busy() const {
    std::vector<double> seconds;
    seconds.reserve(bucket_.size());
    for (const Bucket& bucket : bucket_) seconds.push_back(bucket.busy);
    return seconds;
  }

 private:
  struct Bucket {
    double left;  ///< bytes that may pass at once; below 0 those that stand in line
    double used = 0;
    double updated = 0;
    double busy = 0;
    std::uint32_t version = 0;
    bool taken = false;
  };

  void bring_up(std::uint32_t channel, double now) {
    Bucket& bucket = bucket_[channel];
    const double passed = now - bucket.updated;
    bucket.updated = now;
    if (bucket.taken) bucket.busy += passed;
    const double more = (network_.rate[channel] - bucket.used) * passed;
    bucket.left = std::min(bucket.left + more, network_.burst[channel]);
    // Flows leave no line: what stood there has had its place among them.
    if (bucket.taken) bucket.left = std::max(bucket.left, 0.0);
  }

  const Network& network_;
  Flows& flows_;
  std::vector<Bucket> bucket_;
  std::span<const std::uint32_t> channels_;
};

}  // namespace contend
