#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace contend::test {

/// How far counts lie from all being equal, in standard deviations: Pearson's chi-square turned
/// into a normal deviate after Wilson and Hilferty, "The distribution of chi-square", 1931.
inline double excess_over_uniform(const std::vector<std::uint64_t>& counts) {
  if (counts.size() < 2) return 0;
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double square = 0;
  for (const std::uint64_t count : counts) {
    square += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  const auto freedom = static_cast<double>(counts.size() - 1);
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(square / freedom) - (1 - spread)) / std::sqrt(spread);
}

}  // namespace contend::test
