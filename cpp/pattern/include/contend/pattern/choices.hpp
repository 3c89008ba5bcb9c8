#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contend/base/philox.hpp"

namespace contend {

/// Random choices of one sample: sample k of a seed is the same whoever draws it.
class RandomChoices {
 public:
  explicit RandomChoices(const PhiloxStream& stream) : stream_(stream) {}

  /// A number in [0, n), n >= 1, every one equally likely (rejection after Lemire, "Fast random
  /// integer generation in an interval", 2019). Cost: one word, rarely two.
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = std::uint64_t{word()} * n;
    if (static_cast<std::uint32_t>(product) < n) [[unlikely]] {
      const std::uint32_t threshold = (0U - n) % n;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{word()} * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Draws below(limit), below(limit - step), below(limit - 2 step), ... into `drawn`, two from
  /// each word while their product is small (Brackett-Rozinsky and Lemire, "Batched ranged random
  /// integer generation", 2024): the same distribution, at half the cost.
  void below_falling(std::uint32_t limit, std::uint32_t step, std::span<std::uint32_t> drawn) {
    std::size_t i = 0;
    for (; i < drawn.size() && limit > kLargestForTwo; ++i, limit -= step) drawn[i] = below(limit);
    std::array<std::uint32_t, kPhiloxGroup> words;
    while (i + 2 * kPhiloxGroup <= drawn.size()) {
      philox_fill(stream_, group_++, words);
      for (const std::uint32_t word : words) {
        const std::uint32_t next = limit - step;
        const std::uint64_t first = std::uint64_t{word} * limit;
        const std::uint64_t second = (first & 0xFFFFFFFF) * next;
        drawn[i] = static_cast<std::uint32_t>(first >> 32);
        drawn[i + 1] = static_cast<std::uint32_t>(second >> 32);
        const std::uint32_t both = limit * next;
        if (static_cast<std::uint32_t>(second) < both) [[unlikely]] {
          if (static_cast<std::uint32_t>(second) < (0U - both) % both) {
            drawn[i] = below(limit);
            drawn[i + 1] = below(next);
          }
        }
        i += 2;
        limit = next - step;
      }
    }
    for (; i < drawn.size(); ++i, limit -= step) drawn[i] = below(limit);
  }

  /// Up to 32 fair bits, the first one lowest.
  std::uint32_t coins(std::uint32_t /*count*/) { return word(); }

 private:
  std::uint32_t word() {
    if (next_ == words_.size()) [[unlikely]]
      refill();
    return words_[next_++];
  }

  void refill() {
    philox_fill(stream_, group_, words_);
    group_ += static_cast<std::uint32_t>(words_.size() / kPhiloxGroup);
    next_ = 0;
  }

  PhiloxStream stream_;
  std::uint32_t group_ = 0;
  /// Products of two limits stay far enough below 2^32 that few words are rejected.
  static constexpr std::uint32_t kLargestForTwo = 1U << 14;
  std::size_t next_ = kWords;
  static constexpr std::size_t kWords = 8 * kPhiloxGroup;
  alignas(32) std::array<std::uint32_t, kWords> words_;
};

/// The choices that number k of all possible outcomes makes: every k below the product of all n
/// asked for gives another outcome, so counting k up enumerates them.
class EnumeratedChoices {
 public:
  explicit EnumeratedChoices(std::uint64_t number) : rest_(number) {}

  std::uint32_t below(std::uint32_t n) {
    const auto digit = static_cast<std::uint32_t>(rest_ % n);
    rest_ /= n;
    return digit;
  }

  void below_falling(std::uint32_t limit, std::uint32_t step, std::span<std::uint32_t> drawn) {
    for (std::uint32_t& number : drawn) {
      number = below(limit);
      limit -= step;
    }
  }

  std::uint32_t coins(std::uint32_t count) {
    const auto bits = static_cast<std::uint32_t>(rest_ & ((std::uint64_t{1} << count) - 1));
    rest_ >>= count;
    return bits;
  }

 private:
  std::uint64_t rest_;
};

}  // namespace contend
