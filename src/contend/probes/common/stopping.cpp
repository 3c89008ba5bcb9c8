#include "common/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace contend::probe {

namespace {

constexpr std::size_t kFewestResults = 6;
constexpr std::size_t kExact = 1000;
constexpr double kTail = 0.025;
constexpr double kNormalTail = 1.959963984540054;

void insert(std::vector<double>& sorted, double value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

// How many values lie outside of the interval on each side. O(n) while exact.
std::size_t outside(std::size_t count) {
  const double n = static_cast<double>(count);
  if (count > kExact) {
    return static_cast<std::size_t>(std::floor((n - kNormalTail * std::sqrt(n)) / 2.0));
  }
  double probability = std::pow(0.5, n);
  double sum = probability;
  std::size_t below = 0;
  while (sum <= kTail) {
    const double now = static_cast<double>(below);
    probability *= (n - now) / (now + 1.0);
    sum += probability;
    ++below;
  }
  // P(at most `below` - 1 values on one side) is still within the tail.
  return below - 1;
}

}  // namespace

std::optional<Interval> median_interval(const std::vector<double>& sorted) {
  const std::size_t count = sorted.size();
  if (count < kFewestResults) {
    return std::nullopt;
  }
  const std::size_t out = outside(count);
  const double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
  return Interval{sorted[out], median, sorted[count - 1 - out]};
}

void Results::add(double seconds, bool late) {
  insert(all_, seconds);
  if (!late) {
    insert(on_time_, seconds);
  }
}

const std::vector<double>& Results::used() const {
  return on_time_.size() >= kFewestResults ? on_time_ : all_;
}

bool Results::narrow(double precision) const {
  // Results as coarse as the timer tie, so that even an interval without width proves nothing.
  if (precision <= 0.0) {
    return false;
  }
  const std::optional<Interval> interval = median_interval(used());
  return interval && (interval->high - interval->low) / 2.0 <= precision * interval->median;
}

bool too_late(double lateness, double seconds) {
  return lateness > std::max(0.05 * seconds, 10e-6);
}

}  // namespace contend::probe
