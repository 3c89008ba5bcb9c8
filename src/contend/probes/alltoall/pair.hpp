#pragma once

#include <cstdint>

#include "common/random.hpp"

namespace contend::probe::alltoall {

/// Numbers for different uses that have nothing to do with each other.
enum class Use : std::uint64_t { count = 0x6a09e667f3bcc908, data = 0xbb67ae8584caa73b };

/// 64 random bits that depend on a pair of ranks, on which of the two sends, and on their use.
[[nodiscard]] inline std::uint64_t pair_bits(int source, int destination, Use use) {
  const auto from = static_cast<std::uint64_t>(static_cast<std::uint32_t>(source));
  const auto to = static_cast<std::uint64_t>(static_cast<std::uint32_t>(destination));
  return Random(((from << 32U) | to) ^ static_cast<std::uint64_t>(use)).next();
}

}  // namespace contend::probe::alltoall
