#pragma once

#include <array>
#include <cstdint>

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

  /// One fair bit; 32 of them come from one word.
  bool coin() {
    if (coins_left_ == 0) {
      coins_ = word();
      coins_left_ = 32;
    }
    --coins_left_;
    const bool result = (coins_ & 1U) != 0;
    coins_ >>= 1;
    return result;
  }

 private:
  std::uint32_t word() {
    if (next_ == words_.size()) [[unlikely]] refill();
    return words_[next_++];
  }

  void refill() {
    philox_fill(stream_, group_, words_);
    group_ += static_cast<std::uint32_t>(words_.size() / kPhiloxGroup);
    next_ = 0;
  }

  PhiloxStream stream_;
  std::uint32_t group_ = 0;
  std::uint32_t coins_ = 0;
  std::uint32_t coins_left_ = 0;
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

  bool coin() { return below(2) != 0; }

 private:
  std::uint64_t rest_;
};

}  // namespace contend
