#pragma once

#include <cstdint>

namespace contend::packets {

/// xorshift64*, whose words are cheap; nothing here needs better ones.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du) {}
  /// A number below `bound`.
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1Du) >> 32) * bound >> 32;
  }

 private:
  std::uint64_t state_;
};

}  // namespace contend::packets
