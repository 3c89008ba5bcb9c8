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

}  // namespace contend
