#include "buckets.hpp"

#include <algorithm>

namespace contend {

namespace {

/// The least part of its burst that a channel lets pass at once: packets are not divided, and less
/// would have shares found anew for nothing.
constexpr double kLeast = 1.0 / 16;
/// Rates that differ by less are the same.
constexpr double kSlack = 1e-9;

}  // namespace

Buckets::Buckets(const Network& network, Flows& flows) : network_(network), flows_(flows) {
  bucket_.reserve(network.burst.size());
  for (const double burst : network.burst) bucket_.push_back({burst, burst});
}

void Buckets::join(std::uint32_t flow, double bytes) {
  if (flow >= bytes_.size()) bytes_.resize(flow + 1);
  bytes_[flow] = bytes;
}

void Buckets::take(std::uint32_t channel, double bytes, double now) {
  bring_up(channel, now);
  bucket_[channel].left -= bytes;
}

void Buckets::bring_up(std::uint32_t channel, double now) {
  Bucket& bucket = bucket_[channel];
  const double passed = now - bucket.updated;
  bucket.updated = now;
  if (bucket.taken) bucket.busy += passed;
  const double burst = network_.burst[channel];
  if (burst == 0) return;
  const double above = std::max(bucket.left - bucket.level, 0.0);
  const double without = above > 0 ? std::min(passed, above / bucket.used) : 0.0;
  bucket.left += network_.rate[channel] * (passed - without) - bucket.used * passed;
  bucket.left = std::min(bucket.left, burst);
}

void Buckets::before_fill(std::span<const std::uint32_t> channels, double now) {
  channels_ = channels;
  for (const std::uint32_t channel : channels) {
    bring_up(channel, now);
    Bucket& bucket = bucket_[channel];
    bucket.taken = flows_.count(channel) > 0;
    const double burst = network_.burst[channel];
    if (burst == 0) continue;
    const bool at_once = bucket.left > kLeast * burst;
    flows_.set_rate(channel, at_once ? network_.peak : network_.rate[channel]);
  }
}

void Buckets::after_fill(double now, Events& events) {
  for (const std::uint32_t channel : channels_) {
    if (network_.burst[channel] == 0) continue;
    Bucket& bucket = bucket_[channel];
    bucket.used = flows_.used(channel);
    bucket.level = level(channel);
    ++bucket.version;
    const double more = bucket.used - network_.rate[channel];
    if (more > kSlack * network_.rate[channel]) {
      const double above = std::max(bucket.left - bucket.level, 0.0);
      const double below = std::max(bucket.left - above, 0.0);
      events.push(now + above / bucket.used + below / more, Event::Kind::empty, channel,
                  bucket.version);
    }
  }
}

double Buckets::level(std::uint32_t channel) const {
  const double burst = network_.burst[channel];
  const std::span<const std::uint32_t> flows = flows_.on(channel);
  const double steady = network_.rate[channel] * static_cast<double>(flows.size());
  if (flows.empty() || flows_.used(channel) > (1 + kSlack) * steady) return burst;
  double largest = 0;
  for (const std::uint32_t flow : flows) largest = std::max(largest, bytes_[flow]);
  return burst - std::min(largest, burst) / 2;
}

std::vector<double> Buckets::busy() const {
  std::vector<double> seconds;
  seconds.reserve(bucket_.size());
  for (const Bucket& bucket : bucket_) seconds.push_back(bucket.busy);
  return seconds;
}

}  // namespace contend
