#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/ways.hpp"

namespace contend {

/// Counts the messages of one round that split over several ways, by leaf of the source and class
/// of the target, and finds what is worst on the ways of each such pair.
class WaysCounter {
 public:
  WaysCounter(const Ways& ways, std::size_t channels)
      : ways_(&ways),
        between_(ways.classes() * ways.leaves(), 0),
        worst_(between_.size()),
        slowest_(between_.size()),
        load_(channels),
        value_(channels) {}

  void count(std::span<const Place> source, std::span<const Place> target) {
    for (std::size_t m = 0; m < source.size(); ++m) ++between_[pair_of(source[m], target[m])];
  }
  void absorb(const WaysCounter& other) {
    for (std::size_t pair = 0; pair < between_.size(); ++pair) {
      between_[pair] += other.between_[pair];
    }
  }
  void clear() { std::fill(between_.begin(), between_.end(), 0U); }

  /// Messages on every channel between switches; those that stay on a leaf cross none.
  std::span<const double> spread() {
    for (std::size_t number = 0; number < ways_->classes(); ++number) {
      between_[number * ways_->leaves() + ways_->leaf_of_class(number)] = 0;
    }
    std::fill(load_.begin(), load_.end(), 0.0);
    ways_->spread(between_, load_, crossed_);
    return load_;
  }

  /// After spread(): finds the largest number, of those by channel, for every pair.
  void find_worst(const std::uint32_t* number) {
    std::copy_n(number, value_.size(), value_.begin());
    find_largest(worst_);
  }
  /// Likewise the longest time of a byte; `seconds` that it takes alone on each channel.
  void find_slowest(std::span<const double> seconds) {
    for (std::size_t c = 0; c < load_.size(); ++c) value_[c] = load_[c] * seconds[c];
    find_largest(slowest_);
  }

  std::uint32_t worst(Place source, Place target) const {
    return static_cast<std::uint32_t>(worst_[pair_of(source, target)]);
  }
  double slowest(Place source, Place target) const { return slowest_[pair_of(source, target)]; }

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
  std::vector<double> worst_;
  std::vector<double> slowest_;
  std::vector<double> load_;
  std::vector<double> value_;
};

}  // namespace contend
