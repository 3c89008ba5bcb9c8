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

}  // namespace contend
