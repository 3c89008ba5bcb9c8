#include "buckets.hpp"

#include <algorithm>
#include <cstddef>

namespace contend {

namespace {

/// The least part of its burst that a channel lets pass at once: packets are not divided, and less
/// would have shares found anew for nothing.
constexpr double kLeast = 1.0 / 16;

}  // namespace

Buckets::Buckets(const Network& network, Flows& flows) : network_(network), flows_(flows) {
  bucket_.reserve(network.burst.size());
  for (std::size_t c = 0; c < network.burst.size(); ++c) {
    bucket_.push_back({std::min(network.burst[c], network.rate[c] * network.pause)});
  }
}

void Buckets::before_fill(std::span<const std::uint32_t> channels, double now) {
  channels_ = channels;
  for (const std::uint32_t channel : channels) {
    Bucket& bucket = bucket_[channel];
    const double passed = now - bucket.updated;
    bucket.updated = now;
    if (bucket.taken) bucket.busy += passed;
    bucket.taken = flows_.count(channel) > 0;
    const double burst = network_.burst[channel];
    if (burst == 0) continue;
    const double rate = network_.rate[channel];
    bucket.left = std::clamp(bucket.left + (rate - bucket.used) * passed, 0.0, burst);
    flows_.set_rate(channel, bucket.left > kLeast * burst ? network_.peak : rate);
  }
}

void Buckets::after_fill(double now, Events& events) {
  for (const std::uint32_t channel : channels_) {
    if (network_.burst[channel] == 0) continue;
    Bucket& bucket = bucket_[channel];
    bucket.used = flows_.used(channel);
    ++bucket.version;
    const double more = bucket.used - network_.rate[channel];
    if (more > 1e-9 * network_.rate[channel]) {
      events.push(now + bucket.left / more, Event::Kind::empty, channel, bucket.version);
    }
  }
}

std::vector<double> Buckets::busy() const {
  std::vector<double> seconds;
  seconds.reserve(bucket_.size());
  for (const Bucket& bucket : bucket_) seconds.push_back(bucket.busy);
  return seconds;
}

}  // namespace contend
