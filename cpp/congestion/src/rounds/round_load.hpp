#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "contend/base/vectorise.hpp"

namespace contend {

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
