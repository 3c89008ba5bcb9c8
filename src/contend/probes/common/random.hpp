#pragma once

#include <cstdint>

namespace contend::probe {

/// Random numbers that are the same with every compiler, unlike the standard library's
/// distributions.
///
/// SplitMix64: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
/// OOPSLA 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 random bits.
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
  }

  /// A number below `limit`, which is above 0; each as likely as the others.
  std::uint64_t below(std::uint64_t limit) {
    const std::uint64_t most = UINT64_MAX - UINT64_MAX % limit;
    std::uint64_t bits = next();
    while (bits >= most) {
      bits = next();
    }
    return bits % limit;
  }

 private:
  std::uint64_t state_;
};

}  // namespace contend::probe
