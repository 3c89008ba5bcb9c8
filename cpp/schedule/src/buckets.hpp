#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/flows.hpp"
#include "contend/schedule/carry_out.hpp"
#include "events.hpp"

namespace contend {

/// Channels that let a burst pass at once after a pause, as a token bucket does, and how long each
/// was busy.
///
/// Flows are even, and what they stand for comes in pieces of up to a burst, which go on from
/// channel to channel as a whole. While a piece gathers, the bytes that a flow has passed already
/// are still to come, and a channel whose bucket is full collects nothing for them: it stores as
/// much less as is on its way, half a piece on average.
class Buckets {
 public:
  Buckets(const Network& network, Flows& flows);

  /// A flow carries a message of so many bytes.
  void join(std::uint32_t flow, double bytes);
  /// What is no flow passes a channel.
  void take(std::uint32_t channel, double bytes, double now);
  /// Brings gathered channels up to now, and says at which rate each of them goes on.
  void before_fill(std::span<const std::uint32_t> channels, double now);
  /// Foresees when their bursts will be used up.
  void after_fill(double now, Events& events);
  bool is_current(std::uint32_t channel, std::uint32_t version) const {
    return bucket_[channel].version == version;
  }
  /// Seconds in which something was under way, by channel.
  std::vector<double> busy() const;

 private:
  struct Bucket {
    double left;   ///< bytes that may pass at once
    double level;  ///< above it nothing is collected
    double used = 0;
    double updated = 0;
    double busy = 0;
    std::uint32_t version = 0;
    bool taken = false;
  };

  void bring_up(std::uint32_t channel, double now);
  /// A burst without half a piece of the largest message, where no message comes as a burst.
  double level(std::uint32_t channel) const;

  const Network& network_;
  Flows& flows_;
  std::vector<Bucket> bucket_;
  std::vector<double> bytes_;  ///< of a flow's message
  std::span<const std::uint32_t> channels_;
};

}  // namespace contend
