#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contend/base/vectorise.hpp"

namespace contend {

template <class Count>
[[gnu::always_inline]] inline Count add_and_find_largest(const Count* usage, Count* total,
                                                         std::size_t n) {
  Count largest = 0;
  for (std::size_t c = 0; c < n; ++c) {
    total[c] = static_cast<Count>(total[c] + usage[c]);
    largest = std::max(largest, usage[c]);
  }
  return largest;
}

/// Adds usage counts to totals and returns the largest count. Cost: one pass, vectorised.
CONTEND_VECTORISE
inline std::uint32_t fold_usage(const std::uint32_t* usage, std::uint32_t* total, std::size_t n) {
  return add_and_find_largest(usage, total, n);
}

CONTEND_VECTORISE
inline std::uint32_t fold_usage(const std::uint16_t* usage, std::uint16_t* total, std::size_t n) {
  return add_and_find_largest(usage, total, n);
}

/// The largest of some counts.
CONTEND_VECTORISE
inline std::uint32_t largest_usage(const std::uint32_t* usage, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t c = 0; c < n; ++c) largest = std::max(largest, usage[c]);
  return largest;
}
inline std::uint32_t largest_usage(const std::uint16_t* usage, std::size_t n) {
  return n == 0 ? 0 : *std::max_element(usage, usage + n);
}

/// The largest product of a count and what belongs to it. Eight at a time do not wait for each
/// other.
CONTEND_VECTORISE
inline double largest_product(const std::uint32_t* usage, const double* seconds, std::size_t n) {
  double largest[8] = {};
  std::size_t c = 0;
  for (; c + 8 <= n; c += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      const double product = static_cast<std::int32_t>(usage[c + k]) * seconds[c + k];
      largest[k] = product > largest[k] ? product : largest[k];
    }
  }
  double most = 0;
  for (const double each : largest) most = std::max(most, each);
  for (; c < n; ++c) most = std::max(most, usage[c] * seconds[c]);
  return most;
}

/// The same of narrow counts, which are those of few channels.
inline double largest_product(const std::uint16_t* usage, const double* seconds, std::size_t n) {
  double most = 0;
  for (std::size_t c = 0; c < n; ++c) most = std::max(most, usage[c] * seconds[c]);
  return most;
}

/// Rounds loads of 0 and more to parts of messages, of which `unit` are one, and returns the most
/// of any, not rounded. More than 2^31 - 1 parts are cut off. Cost: one pass, vectorised.
CONTEND_VECTORISE
inline double round_load(const double* load, std::uint32_t unit, std::uint32_t* parts,
                         std::size_t n) {
  constexpr double kMost = 0x7FFF'FFFF;
  double largest = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const double exact = load[c] * unit;
    largest = std::max(largest, exact);
    parts[c] = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::min(exact + 0.5, kMost)));
  }
  return largest;
}

}  // namespace contend
