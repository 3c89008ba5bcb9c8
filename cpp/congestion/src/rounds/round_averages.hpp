#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace contend {

/// What one (sample, round) comes to.
struct RoundAverages {
  double bandwidth = 0;
  double mean = 0;
  double max = 0;
  bool any = false;
  double pairs = 0;  ///< where it consists of pairs: mean of what their slower direction gets
  double ports = 0;  ///< the most messages on any channel of a host
};

/// What the messages of one (sample, round) get where channels differ in rate, summed with weights.
struct RoundShares {
  double weight = 0;
  double share = 0;
  double slowdown = 0;
  double largest = 0;
  double bytes_per_second = 0;
  double seconds = 0;  ///< that a byte takes
  double slowest = 0;
  /// Where the round consists of pairs, of the slower direction, from either end.
  double pair_share = 0;
  double pair_bytes_per_second = 0;
  double ports = 0;  ///< that any port takes for a byte of each of its messages

  void add(const RoundShares& more) {
    weight += more.weight;
    share += more.share;
    slowdown += more.slowdown;
    largest = std::max(largest, more.largest);
    bytes_per_second += more.bytes_per_second;
    seconds += more.seconds;
    slowest = std::max(slowest, more.slowest);
    pair_share += more.pair_share;
    pair_bytes_per_second += more.pair_bytes_per_second;
    ports = std::max(ports, more.ports);
  }
};

/// The averages of one round's messages by pi; entry 0, those that stay on their host, is left out.
/// `value` tells the pi of every entry, in parts of which `unit` are a message; empty where that is
/// its number.
template <class Value = std::uint32_t>
RoundAverages average(std::span<const std::uint64_t> by_pi, std::span<const Value> value = {},
                      std::uint32_t unit = 1) {
  double weight = 0;
  double inverse = 0;
  double sum = 0;
  double largest = 0;
  const double part = 1.0 / unit;
  for (std::size_t n = 1; n < by_pi.size(); ++n) {
    if (by_pi[n] == 0) continue;
    const auto messages = static_cast<double>(by_pi[n]);
    const auto congestion = static_cast<double>(value.empty() ? n : value[n]) * part;
    weight += messages;
    inverse += messages / congestion;
    sum += messages * congestion;
    largest = congestion;
  }
  if (largest == 0) return {};
  return {inverse / weight, sum / weight, largest, true};
}

}  // namespace contend
