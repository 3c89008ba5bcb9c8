#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../rounds/fold_usage.hpp"
#include "contend/routes/split/ways.hpp"
#include "split_counter.hpp"

namespace contend {

/// Counts messages one by one, each by the ways that it has. Cost of a round: the parts of a
/// message twice, three times where links differ, and a look at all channels. Memory: some words a
/// channel.
class FollowedCounter final : public WorstCounter<FollowedCounter> {
 public:
  FollowedCounter(const Ways& ways, std::size_t channels)
      : WorstCounter(channels, channels), ways_(&ways) {}

  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t first = 0; first < source.size(); first += kAtOnce) {
      const std::size_t end = std::min(first + kAtOnce, source.size());
      if (unchecked_ + (end - first) > kAtOnce) cut_off();
      unchecked_ += end - first;
      for (std::size_t m = first; m < end; ++m) {
        for (const PartOnChannel& each : parts_of(source[m], target[m])) {
          count_[each.channel] += static_cast<std::uint64_t>(each.part * kMessage + 0.5);
        }
      }
    }
  }
  void absorb(const SplitCounter& other) override {
    const std::vector<std::uint64_t>& more = static_cast<const FollowedCounter&>(other).count_;
    cut_off();
    for (std::size_t c = 0; c < count_.size(); ++c) {
      count_[c] += std::min(more[c], kMost - count_[c]);
    }
  }
  void clear() override {
    WorstCounter::clear();
    unchecked_ = 0;
  }

  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    for (std::size_t c = 0; c < count_.size(); ++c)
      load_[c] = static_cast<double>(count_[c]) / kMessage;
    return round_load(load_.data(), unit, parts.data(), load_.size());
  }

  void find(const std::uint32_t* number) {
    std::copy_n(number, worst_.size(), worst_.begin());
    for (std::size_t c = 0; c < slowest_.size(); ++c) slowest_[c] = load_[c] * seconds_[c];
  }

  template <class Visit>
  void for_each_of(Place source, Place target, const Visit& visit) const {
    for (const PartOnChannel& each : parts_of(source, target)) visit(each.channel);
  }

 private:
  /// Sums are whole numbers of such parts: equal in any order of the messages.
  static constexpr double kMessage = std::uint64_t{1} << 40;
  /// Messages after which sums are looked at, and the most that leaves room for as many: more than
  /// any channel may have.
  static constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  static constexpr std::uint64_t kMost = ~std::uint64_t{0} - (std::uint64_t{kAtOnce} << 40);

  std::vector<PartOnChannel> parts_of(Place source, Place target) const {
    return ways_->parts_between(ways_->leaf_of(source), ways_->class_of(target));
  }
  void cut_off() {
    for (std::uint64_t& each : count_) each = std::min(each, kMost);
    unchecked_ = 0;
  }

  const Ways* ways_;
  std::size_t unchecked_ = 0;  ///< messages since sums were cut off
};

/// Counts the messages of one round that split over several ways, by leaf of the source and class
/// of the target, and finds what is worst on the ways of each such pair.
class WaysCounter final : public WorstCounter<WaysCounter, double> {
 public:
  WaysCounter(const Ways& ways, std::size_t channels)
      : WorstCounter(ways.classes() * ways.leaves(), channels), ways_(&ways), value_(channels) {}

  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t m = 0; m < source.size(); ++m) ++count_[pair_of(source[m], target[m])];
  }

  /// Messages that stay on a leaf cross no channel.
  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    for (std::size_t number = 0; number < ways_->classes(); ++number) {
      count_[number * ways_->leaves() + ways_->leaf_of_class(number)] = 0;
    }
    std::fill(load_.begin(), load_.end(), 0.0);
    ways_->spread(count_, load_, crossed_);
    return round_load(load_.data(), unit, parts.data(), load_.size());
  }

  void find(const std::uint32_t* number) {
    std::copy_n(number, value_.size(), value_.begin());
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
    ways_->largest(count_, crossed_, value_, of_pairs);
  }

  const Ways* ways_;
  Crossed crossed_;
  std::vector<double> value_;
};

}  // namespace contend
