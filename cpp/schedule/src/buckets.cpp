#include "buckets.hpp"

#include <algorithm>

namespace contend {

namespace {

/// The least part of its burst that a channel lets pass at once: packets are not divided, and less
/// would have shares found anew for nothing.
constexpr double kLeast = 1.0 / 16;

}  // namespace

Buckets::Buckets(const Network& network, Flows& flows) : network_(network), flows_(flows) {
  bucket_.reserve(network.burst.size());
  for (const double burst : network.burst) bucket_.push_back({burst});
}

void Buckets::bring_up(std::uint32_t channel, double now) {
  Bucket& bucket = bucket_[channel];
  const double passed = now - bucket.updated;
  bucket.updated = now;
  if (bucket.taken) bucket.busy += passed;
  const double more = (network_.rate[channel] - bucket.used) * passed;
  bucket.left = std::min(bucket.left + more, network_.burst[channel]);
  // Flows leave no line: what stood there has had its place among them.
  if (bucket.taken) bucket.left = std::max(bucket.left, 0.0);
}

double Buckets::line_up(std::uint32_t channel, double bytes, double now) {
  bring_up(channel, now);
  Bucket& bucket = bucket_[channel];
  bucket.left -= bytes;
  if (bucket.taken) return now;
  bucket.busy += bytes / network_.rate[channel];
  return now + std::max(-bucket.left, 0.0) / network_.rate[channel];
}

double Buckets::wait(std::uint32_t channel, double now) const {
  const Bucket& bucket = bucket_[channel];
  if (bucket.taken) return 0;
  return std::max(-bucket.left / network_.rate[channel] - (now - bucket.updated), 0.0);
}

void Buckets::before_fill(std::span<const std::uint32_t> channels, double now) {
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

void Buckets::after_fill(double now, Events& events) {
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

std::vector<double> Buckets::busy() const {
  std::vector<double> seconds;
  seconds.reserve(bucket_.size());
  for (const Bucket& bucket : bucket_) seconds.push_back(bucket.busy);
  return seconds;
}

}  // namespace contend
