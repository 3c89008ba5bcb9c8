#pragma once

#include <algorithm>
#include <cstddef>

#include "contend/base/progress.hpp"

namespace contend {

/// Visits every (row, column), tile by tile, so that tables of which one lies by rows and the other
/// by columns stay in the cache while one is written from the other.
template <class Visit>
void for_each_in_tiles(std::size_t rows, std::size_t columns, const Visit& visit) {
  // A line of the cache is as long as 32 ports.
  constexpr std::size_t kTile = 32;
  for (const std::size_t tile : InParts((rows + kTile - 1) / kTile)) {
    const std::size_t first = tile * kTile, last = std::min(first + kTile, rows);
    for (std::size_t left = 0; left < columns; left += kTile) {
      const std::size_t right = std::min(left + kTile, columns);
      for (std::size_t row = first; row < last; ++row) {
        for (std::size_t column = left; column < right; ++column) visit(row, column);
      }
    }
  }
}

}  // namespace contend
