#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

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
