#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace contend {

/// n!, when it is below 2^63.
inline std::optional<std::uint64_t> factorial(std::size_t n) {
  std::uint64_t product = 1;
  for (std::uint64_t k = 2; k <= n; ++k) {
    if (product >= (std::uint64_t{1} << 63) / k) return std::nullopt;
    product *= k;
  }
  return product;
}

}  // namespace contend
