#pragma once

#include <algorithm>
#include <cstdint>

namespace contend::probe::sort {

/// How n records are dealt to p ranks: consecutive shares, the first n mod p of them one longer.
///
/// A rank begins with its share of the input and ends with its share of the sorted output, so both
/// arrays have the same length, and no rank's is longer than n/p rounded up.
struct Shares {
  std::int64_t records;
  std::int64_t ranks;

  /// Records of all ranks before this one; rank p begins at n.
  [[nodiscard]] std::int64_t begin(std::int64_t rank) const {
    return rank * (records / ranks) + std::min(rank, records % ranks);
  }
  [[nodiscard]] std::int64_t length(std::int64_t rank) const {
    return begin(rank + 1) - begin(rank);
  }
  [[nodiscard]] std::int64_t longest() const { return length(0); }
};

}  // namespace contend::probe::sort
