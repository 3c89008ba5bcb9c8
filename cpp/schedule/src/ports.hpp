#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "contend/schedule/carry_out.hpp"

namespace contend {

/// Hosts' ports as lines: pieces of messages leave in the order in which they came, each as a whole
/// as soon as the port's token bucket holds as many bytes.
class Ports {
 public:
  explicit Ports(const Network& network)
      : network_(network),
        first_(static_cast<std::uint32_t>(network.resolver.switch_channels())),
        paid_(network.resolver.places(), 0.0) {
    for (Place place = 0; place < paid_.size(); ++place) paid_[place] = -credit(place);
  }

  std::uint32_t channel(Place place) const { return first_ + place; }
  /// How many pieces of one message are in line at a time.
  std::uint32_t window(Place place) const {
    const double pieces = network_.queue[channel(place)] / network_.piece;
    return std::max(static_cast<std::uint32_t>(std::min(pieces, 1e9)), 1U);
  }
  /// Lines bytes up; returns when they have left.
  double line_up(Place place, double bytes, double now) {
    double& paid = paid_[place];
    paid = std::max(paid, now - credit(place)) + bytes / network_.rate[channel(place)];
    return std::max(paid, now);
  }
  /// Seconds until what is in line has left.
  double wait(Place place, double now) const { return std::max(paid_[place] - now, 0.0); }
  /// A stream has passed the port and left no tokens.
  void empty(Place place, double now) { paid_[place] = std::max(paid_[place], now); }

 private:
  /// Seconds that a full bucket is worth.
  double credit(Place place) const {
    return network_.burst[channel(place)] / network_.rate[channel(place)];
  }

  const Network& network_;
  std::uint32_t first_;
  std::vector<double> paid_;  ///< when tokens for all that was lined up are there, by place
};

}  // namespace contend
