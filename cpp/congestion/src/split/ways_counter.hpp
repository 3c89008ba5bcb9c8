#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../rounds/round_load.hpp"
#include "contend/routes/ways/ways.hpp"
#include "worst_counter.hpp"

namespace contend {

/// Counts the messages of one round that split over several ways, by leaf of the source and class
/// of the target, and finds what is worst on the ways of each such pair.
class WaysCounter final : public WorstCounter<WaysCounter, double> {
 public:
  WaysCounter(const Ways& ways, std::size_t channels)
      : ways_(&ways),
        between_(ways.classes() * ways.leaves(), 0),
        load_(channels),
        value_(channels) {
    worst_.resize(between_.size());
  }

  void set_rates(const ChannelRates& rates) override {
    seconds_ = rates.seconds_between(0);
    slowest_.resize(between_.size());
  }
  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t m = 0; m < source.size(); ++m) ++between_[pair_of(source[m], target[m])];
  }
  void absorb(const SplitCounter& other) override {
    const std::vector<std::uint32_t>& more = static_cast<const WaysCounter&>(other).between_;
    for (std::size_t pair = 0; pair < between_.size(); ++pair) between_[pair] += more[pair];
  }
  void clear() override { std::fill(between_.begin(), between_.end(), 0U); }

  /// Messages that stay on a leaf cross no channel.
  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    for (std::size_t number = 0; number < ways_->classes(); ++number) {
      between_[number * ways_->leaves() + ways_->leaf_of_class(number)] = 0;
    }
    std::fill(load_.begin(), load_.end(), 0.0);
    ways_->spread(between_, load_, crossed_);
    return round_load(load_.data(), unit, parts.data(), load_.size());
  }

  void find_worst(std::span<const std::uint32_t> usage, std::uint32_t largest, std::uint32_t unit,
                  PiValues& values) override {
    values.number(usage, largest, unit);
    std::copy_n(values.of_channels(usage), value_.size(), value_.begin());
    find_largest(worst_);
    if (seconds_.empty()) return;
    for (std::size_t c = 0; c < load_.size(); ++c) value_[c] = load_[c] * seconds_[c];
    find_largest(slowest_);
  }

  template <class Visit>
  void for_each_of(Place source, Place target, const Visit& visit) const {
    visit(pair_of(source, target));
  }

 private:
  /// The number of the pair, target's class first.
  std::size_t pair_of(Place source, Place target) const {
    return ways_->class_of(target) * ways_->leaves() + ways_->leaf_of(source);
  }
  void find_largest(std::vector<double>& of_pairs) {
    std::fill(of_pairs.begin(), of_pairs.end(), 0.0);
    ways_->largest(between_, crossed_, value_, of_pairs);
  }

  const Ways* ways_;
  std::vector<std::uint32_t> between_;
  Crossed crossed_;
  std::vector<double> load_;
  std::vector<double> value_;
  std::vector<double> seconds_;  ///< a byte takes alone on each channel
};

}  // namespace contend
