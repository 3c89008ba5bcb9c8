#include "timing/pacing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace contend::probe {

namespace {

constexpr std::size_t kFewestResults = 6;
constexpr double kTail = 0.025;

void insert(std::vector<double>& sorted, double value) {
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
}

// How many values lie outside of the interval on each side: the largest k with P(B <= k) within the
// tail, for B binomial(count, 1/2). Sums from the middle, where nothing underflows. O(sqrt(count)).
std::size_t outside(std::size_t count) {
  const double n = static_cast<double>(count);
  std::size_t k = (count - 1) / 2;
  const double middle = static_cast<double>(k);
  double probability = std::exp(std::lgamma(n + 1.0) - std::lgamma(middle + 1.0) -
                                std::lgamma(n - middle + 1.0) - n * std::log(2.0));
  // By symmetry half of all lies below, of an even count half of what is not right in the middle.
  const double between = count % 2 == 1 ? 0.0 : probability * (n - middle) / (middle + 1.0);
  double at_most = 0.5 * (1.0 - between);
  while (at_most > kTail) {
    at_most -= probability;
    const double now = static_cast<double>(k);
    probability *= now / (n - now + 1.0);
    --k;
  }
  return k;
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

Schedule::Schedule(std::size_t cells, double end) : end_(end) {
  for (std::size_t cell = 0; cell < cells; ++cell) {
    round_.push_back({cell, 0.0});
  }
}

std::optional<Schedule::Turn> Schedule::next(double now) {
  for (;;) {
    if (round_.empty()) {
      std::swap(round_, next_round_);
      if (round_.empty()) {
        return std::nullopt;
      }
    }
    const Waiting waiting = round_.front();
    const double left = end_ - now;
    const double share = left / static_cast<double>(round_.size());
    round_.pop_front();
    if (left > waiting.least) {
      return Turn{waiting.cell, now + share};
    }
    given_up_.push_back(waiting.cell);
  }
}

void Schedule::again(std::size_t cell, double least) { next_round_.push_back({cell, least}); }

namespace {

constexpr double kReserve = 1.25;
constexpr double kLeastMargin = 5e-6;
// One rank that was held up for long must not slow down all that follows.
constexpr double kMostMargin = 0.1;
constexpr double kForget = 0.97;

}  // namespace

void Margin::learn(double seconds) {
  const double wanted = kReserve * seconds + kLeastMargin;
  margin_ = std::min(std::max(wanted, kForget * margin_), kMostMargin);
}

}  // namespace contend::probe
