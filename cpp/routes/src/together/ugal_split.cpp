#include "ugal_split.hpp"

#include <algorithm>
#include <cmath>

#include "contend/base/interruption.hpp"
#include "contend/base/progress.hpp"

namespace contend {

namespace {

/// Queues grow as this power of the load less one.
constexpr int kPower = 32;
/// What may still be gained of what all packets meet, at the end, and where queues are less steep.
constexpr double kGain = 0.005;
constexpr double kGainOnTheWay = 0.05;
constexpr int kMostSteps = 400;
/// About so many are needed where channels are shared by many.
constexpr int kExpectedSteps = 150;
/// Of the way that a search looks at, until a 16th of what is left is known.
constexpr int kHalvings = 40;

double power_of(double base, int power) {
  double result = 1;
  for (; power > 0; power /= 2, base *= base) {
    if (power % 2 == 1) result *= base;
  }
  return result;
}

}  // namespace

UgalSplit::UgalSplit(const ValiantTraffic& traffic, std::span<const std::uint32_t> messages,
                     std::span<const double> seconds)
    : traffic_(traffic),
      messages_(messages),
      seconds_(seconds),
      around_(messages.size(), 0),
      load_(seconds.size(), 0),
      queue_(seconds.size()),
      change_(seconds.size()),
      straight_(messages.begin(), messages.end()),
      detour_(messages.size()),
      steepness_(messages.size()) {
  traffic_.send(straight_, {}, load_);
  for (std::size_t c = 0; c < load_.size(); ++c) load_[c] *= seconds_[c];
}

void UgalSplit::settle() {
  int steps = 0;
  Progress share(kExpectedSteps);
  for (int power = 4; power <= kPower; power *= 2) {
    const double gain = power < kPower ? kGainOnTheWay : kGain;
    for (; steps < kMostSteps && step(power, gain); ++steps) share.done();
  }
}

/// Moves towards the equilibrium; false where no more than `gain` could be gained.
bool UgalSplit::step(int power, double gain) {
  check_interruption();
  double met = 0;
  for (std::size_t c = 0; c < load_.size(); ++c) {
    queue_[c] = seconds_[c] * (1 + power_of(load_[c], power - 1));
    met += load_[c] * (1 + power_of(load_[c], power - 1));
  }
  traffic_.find_mean(messages_, queue_, straight_, detour_);
  for (std::size_t c = 0; c < load_.size(); ++c) {
    queue_[c] = seconds_[c] * seconds_[c] * (power - 1) * power_of(load_[c], power - 2);
  }
  traffic_.find_mean(messages_, queue_, steepness_, {});
  double gained = 0;
  for (std::size_t pair = 0; pair < messages_.size(); ++pair) {
    const double worse = detour_[pair] - straight_[pair];
    straight_[pair] = detour_[pair] = 0;
    if (messages_[pair] == 0) continue;
    const double best = worse < 0 ? 1 : 0;
    gained += messages_[pair] * worse * (around_[pair] - best);
    const double steep = messages_[pair] * steepness_[pair];
    const double wanted = steep > 0 ? std::clamp(around_[pair] - worse / steep, 0.0, 1.0) : best;
    detour_[pair] = messages_[pair] * (wanted - around_[pair]);
    straight_[pair] = -detour_[pair];
  }
  if (gained <= gain * met) return false;
  std::fill(change_.begin(), change_.end(), 0.0);
  traffic_.send(straight_, detour_, change_);
  for (std::size_t c = 0; c < change_.size(); ++c) change_[c] *= seconds_[c];
  const double length = length_of(change_, power);
  for (std::size_t pair = 0; pair < messages_.size(); ++pair) {
    if (messages_[pair] == 0) continue;
    const double part = around_[pair] + length * detour_[pair] / messages_[pair];
    around_[pair] = std::clamp(part, 0.0, 1.0);
  }
  // What a channel has left after all of it has gone is rounding.
  for (std::size_t c = 0; c < load_.size(); ++c) {
    load_[c] = std::max(0.0, load_[c] + length * change_[c]);
  }
  return length > 0;
}

/// How far along a change, at most once, the sum over channels is least.
double UgalSplit::length_of(std::span<const double> change, int power) const {
  const auto slope = [&](double length) {
    double sum = 0;
    for (std::size_t c = 0; c < change.size(); ++c) {
      if (change[c] == 0) continue;
      const double load = std::max(0.0, load_[c] + length * change[c]);
      sum += change[c] * (1 + power_of(load, power - 1));
    }
    return sum;
  };
  if (slope(1) <= 0) return 1;
  double low = 0, high = 1;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = (low + high) / 2;
    (slope(middle) > 0 ? high : low) = middle;
    if (16 * (high - low) <= low) break;
  }
  return low;
}

}  // namespace contend
