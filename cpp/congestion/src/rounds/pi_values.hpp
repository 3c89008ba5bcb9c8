#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace contend {

/// The values that pi may have in a round, numbered in ascending order: 0, a message, and what more
/// than a message loads a channel. Where they are far apart counting by number takes memory by the
/// channels, however many messages these carry.
class PiValues {
 public:
  /// Finds them. `usage` is what loads each channel, in parts of messages, `largest` the most of
  /// it, and `unit` what a message counts for.
  void number(std::span<const std::uint32_t> usage, std::uint32_t largest, std::uint32_t unit) {
    if (largest <= kFew) return number(largest, unit);
    number_.clear();
    values_.assign({0, unit});
    for (const std::uint32_t used : usage) {
      if (used > unit) values_.push_back(used);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    number_.resize(usage.size());
    for (std::size_t c = 0; c < usage.size(); ++c) {
      // What is less than a message is told as one: no message meets less than itself.
      const std::uint32_t value = usage[c] == 0 ? 0 : std::max(usage[c], unit);
      number_[c] = number_of(value);
    }
  }

  /// The same where messages have values of their own: `pi` of each, no less than a message.
  void list(std::span<const std::uint32_t> pi, std::uint32_t unit) {
    number_.clear();
    values_.assign({0, unit});
    values_.insert(values_.end(), pi.begin(), pi.end());
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  }

  /// The same by what channels carry at most: every number up to it is its own.
  void number(std::uint32_t largest, std::uint32_t unit) {
    number_.clear();
    values_.resize(std::size_t{std::max(largest, unit)} + 1);
    std::iota(values_.begin(), values_.end(), 0U);
  }

  std::span<const std::uint32_t> values() const { return values_; }
  /// The number of one of the values.
  std::uint32_t number_of(std::uint32_t value) const {
    const auto found = std::lower_bound(values_.begin(), values_.end(), value);
    return static_cast<std::uint32_t>(found - values_.begin());
  }
  /// By channel: the number of the value that it has, which is mostly the value itself.
  const std::uint32_t* of_channels(std::span<const std::uint32_t> usage) const {
    return number_.empty() ? usage.data() : number_.data();
  }
  /// The number of the value of a whole message.
  std::uint32_t of_message(std::uint32_t unit) const { return number_.empty() ? unit : 1; }

 private:
  /// Up to here every number is taken for a value of pi: fewer than a list of them would cost.
  static constexpr std::uint32_t kFew = 1U << 16;

  std::vector<std::uint32_t> values_;
  std::vector<std::uint32_t> number_;  ///< by channel; empty where it is the value
};

/// Counts messages by the number of their value. Most share a few: counters used in turn do not
/// wait for each other.
class ValueCounters {
 public:
  void begin(std::size_t values) {
    counters_.assign(kInTurn * values, 0);
    counted_ = 0;
  }
  /// `by_value` takes what the counters cannot hold.
  void add(std::span<const std::uint32_t> number, std::span<std::uint64_t> by_value) {
    if (counted_ + number.size() > 0xFFFF'FFFF) finish(by_value);
    counted_ += number.size();
    std::uint32_t* const counters = counters_.data();
    for (std::size_t m = 0; m < number.size(); ++m) {
      ++counters[kInTurn * std::size_t{number[m]} + m % kInTurn];
    }
  }
  /// Adds what was counted, and begins anew.
  void finish(std::span<std::uint64_t> by_value) {
    const std::size_t values = counters_.size() / kInTurn;
    for (std::size_t value = 0; value < values; ++value) {
      for (std::size_t k = 0; k < kInTurn; ++k) by_value[value] += counters_[kInTurn * value + k];
    }
    begin(values);
  }

 private:
  static constexpr std::size_t kInTurn = 4;

  std::vector<std::uint32_t> counters_;
  std::uint64_t counted_ = 0;
};

}  // namespace contend
