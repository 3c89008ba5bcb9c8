#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contend/base/vectorise.hpp"

namespace contend {

/// Adds usage counts to totals and returns the largest count. Cost: one pass, vectorised.
CONTEND_VECTORISE
inline std::uint32_t fold_usage(const std::uint32_t* usage, std::uint32_t* total, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t c = 0; c < n; ++c) {
    total[c] += usage[c];
    largest = std::max(largest, usage[c]);
  }
  return largest;
}

}  // namespace contend
