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
class Buckets {
 public:
  Buckets(const Network& network, Flows& flows);

  /// What is no flow comes to a channel, behind all that has; returns when it passes, as a whole.
  double line_up(std::uint32_t channel, double bytes, double now);
  /// Seconds until what stands in line there has passed.
  double wait(std::uint32_t channel, double now) const;
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
    double left;  ///< bytes that may pass at once; below 0 those that stand in line
    double used = 0;
    double updated = 0;
    double busy = 0;
    std::uint32_t version = 0;
    bool taken = false;
  };

  void bring_up(std::uint32_t channel, double now);

  const Network& network_;
  Flows& flows_;
  std::vector<Bucket> bucket_;
  std::span<const std::uint32_t> channels_;
};

}  // namespace contend
