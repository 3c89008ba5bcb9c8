#pragma once

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
};

/// The averages of one round's messages by pi; entry 0, those that stay on their host, is left out.
inline RoundAverages average(std::span<const std::uint64_t> by_pi) {
  double weight = 0;
  double inverse = 0;
  double sum = 0;
  std::size_t largest = 0;
  for (std::size_t pi = 1; pi < by_pi.size(); ++pi) {
    if (by_pi[pi] == 0) continue;
    const auto messages = static_cast<double>(by_pi[pi]);
    const auto congestion = static_cast<double>(pi);
    weight += messages;
    inverse += messages / congestion;
    sum += messages * congestion;
    largest = pi;
  }
  if (largest == 0) return {};
  return {inverse / weight, sum / weight, static_cast<double>(largest), true};
}

}  // namespace contend
