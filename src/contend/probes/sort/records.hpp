#pragma once

#include <cstdint>

namespace contend::probe::sort {

/// A view of m-vectors: records of `doubles` doubles each, one after the other, by their key first.
///
/// The second double, where there is one, is the record's index in the input of all ranks.
struct Records {
  double* first;
  std::int64_t count;
  std::int64_t doubles;

  [[nodiscard]] double* operator[](std::int64_t record) const { return first + record * doubles; }
  [[nodiscard]] double key(std::int64_t record) const { return first[record * doubles]; }
};

/// Whether no key is smaller than the one before. O(count); false where a key is not a number.
[[nodiscard]] inline bool in_order(const Records& records) {
  for (std::int64_t record = 1; record < records.count; ++record) {
    if (!(records.key(record - 1) <= records.key(record))) {
      return false;
    }
  }
  return true;
}

}  // namespace contend::probe::sort
