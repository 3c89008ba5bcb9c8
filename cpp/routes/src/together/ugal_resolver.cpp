#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../split/valiant_traffic.hpp"
#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/progress.hpp"
#include "contend/routes/split/valiant.hpp"

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

/// Which part of every message goes around where packets choose by queues and hops.
///
/// A queue grows as the 31st power of a channel's load, in messages: hardly any below one, steep
/// above. A hop costs one more. Packets choose so that no pair of leaves gains by sending more of
/// them straight or around, an equilibrium of Wardrop; it is where the sum over channels of load
/// plus load^32 / 32 is least, which is convex. With so steep queues the fullest channel is within
/// a few percent of the least that any such split leaves it.
///
/// Memory: kBytesOfPair for every pair of leaves.
class UgalSplit {
 public:
  static constexpr std::size_t kBytesOfPair = 4 * sizeof(double);

  /// `messages` by target's leaf and source's; `seconds` by channel, by which loads count.
  UgalSplit(const ValiantTraffic& traffic, std::span<const std::uint64_t> messages,
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

  /// Finds the equilibrium: what packets could gain is less than a 200th of what all of them meet.
  /// Steps of Newton's method by pairs, each with a search along the line; less steep queues first.
  void settle() {
    int steps = 0;
    Progress share(kExpectedSteps);
    for (int power = 4; power <= kPower; power *= 2) {
      const double gain = power < kPower ? kGainOnTheWay : kGain;
      for (; steps < kMostSteps && step(power, gain); ++steps) share.done();
    }
  }

  /// The part of the messages of every pair that goes around.
  std::vector<double> take_around() { return std::move(around_); }

 private:
  /// Moves towards the equilibrium; false where no more than `gain` could be gained.
  bool step(int power, double gain) {
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
      const auto sent = static_cast<double>(messages_[pair]);
      const double best = worse < 0 ? 1 : 0;
      gained += sent * worse * (around_[pair] - best);
      const double steep = sent * steepness_[pair];
      const double wanted = steep > 0 ? std::clamp(around_[pair] - worse / steep, 0.0, 1.0) : best;
      detour_[pair] = sent * (wanted - around_[pair]);
      straight_[pair] = -detour_[pair];
    }
    if (gained <= gain * met) return false;
    std::fill(change_.begin(), change_.end(), 0.0);
    traffic_.send(straight_, detour_, change_);
    for (std::size_t c = 0; c < change_.size(); ++c) change_[c] *= seconds_[c];
    const double length = length_of(change_, power);
    for (std::size_t pair = 0; pair < messages_.size(); ++pair) {
      if (messages_[pair] == 0) continue;
      const double part =
          around_[pair] + length * detour_[pair] / static_cast<double>(messages_[pair]);
      around_[pair] = std::clamp(part, 0.0, 1.0);
    }
    // What a channel has left after all of it has gone is rounding.
    for (std::size_t c = 0; c < load_.size(); ++c) {
      load_[c] = std::max(0.0, load_[c] + length * change_[c]);
    }
    return length > 0;
  }

  /// How far along a change, at most once, the sum over channels is least.
  double length_of(std::span<const double> change, int power) const {
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

  const ValiantTraffic& traffic_;
  std::span<const std::uint64_t> messages_;
  std::span<const double> seconds_;
  std::vector<double> around_;
  std::vector<double> load_;  ///< times seconds
  std::vector<double> queue_, change_;
  // By pair: what packets meet that go straight or around, then how many more of them do.
  std::vector<double> straight_, detour_;
  std::vector<double> steepness_;
};

/// Which part of a message goes straight, and which around, is told from none if it is less than a
/// unit; `crossed` has one of these for every pair of leaves.
enum Taken : std::uint32_t { straight = 1, around = 2 };

class UgalResolver final : public ByStops {
 public:
  UgalResolver(const Fabric& fabric, const Places& places, ValiantTraffic traffic,
               std::vector<double> seconds)
      : ByStops(fabric, places, std::move(traffic)), seconds_(std::move(seconds)) {
    if (seconds_.size() != switch_channels()) throw Error("seconds for every channel");
  }

  std::uint64_t work_of_round() const override { return kLooks * traffic().work(); }
  std::size_t bytes_of_round() const override { return counted(UgalSplit::kBytesOfPair); }

  void spread(std::span<const std::uint64_t> messages, std::span<double> load,
              Crossed& crossed) const override {
    std::vector<double> by_stops = settled(messages);
    std::vector<double> direct(messages.begin(), messages.end());
    crossed.clear();
    crossed.items.reserve(messages.size());
    for (std::size_t pair = 0; pair < messages.size(); ++pair) {
      const double part = by_stops[pair];
      by_stops[pair] *= direct[pair];
      if (part < 1.0 / kUnit) by_stops[pair] = 0;
      if (part > 1 - 1.0 / kUnit) by_stops[pair] = direct[pair];
      direct[pair] -= by_stops[pair];
      crossed.items.push_back((direct[pair] > 0 ? Taken::straight : 0U) |
                              (by_stops[pair] > 0 ? Taken::around : 0U));
    }
    traffic().send(direct, by_stops, load);
  }

  void largest(std::span<const std::uint64_t> messages, const Crossed& crossed,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> by_stops(messages.size(), 0);
    traffic().find_largest(messages, value, largest, by_stops);
    for (std::size_t pair = 0; pair < messages.size(); ++pair) {
      const std::uint32_t taken = crossed.items[pair];
      if ((taken & Taken::straight) == 0) largest[pair] = 0;
      if ((taken & Taken::around) != 0) largest[pair] = std::max(largest[pair], by_stops[pair]);
    }
  }

  std::vector<double> parts_across(ChannelId) const override { refuse_alone(); }
  std::vector<PartOnChannel> parts_between(std::uint32_t, std::uint32_t) const override {
    refuse_alone();
  }

 private:
  /// The part of the messages of every pair that goes around.
  std::vector<double> settled(std::span<const std::uint64_t> messages) const {
    UgalSplit split(traffic(), messages, seconds_);
    split.settle();
    return split.take_around();
  }

  /// Roughly so often a round looks at all ways: some four times in each step.
  static constexpr std::uint64_t kLooks = 1200;

  [[noreturn]] static void refuse_alone() {
    throw Error("messages by themselves, which split only beside others");
  }

  std::vector<double> seconds_;
};

}  // namespace

std::unique_ptr<Resolver> make_ugal_resolver(const Fabric& fabric, const Places& places,
                                             std::span<const std::uint32_t> group,
                                             std::vector<double> seconds, const Remains* rest) {
  return std::make_unique<UgalResolver>(fabric, places, ValiantTraffic(fabric, places, group, rest),
                                        std::move(seconds));
}

}  // namespace contend
