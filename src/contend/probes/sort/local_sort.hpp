#pragma once

#include <cstdint>
#include <vector>

#include "sort/records.hpp"

namespace contend::probe::sort {

/// Sorts a rank's records by key where they lie, equal keys by their index in the whole input.
///
/// Short records are moved themselves. Longer ones are moved once each, after an index of keys and
/// places has been sorted: 16 bytes a record, taken beforehand, and never a third array of records.
/// Records that are in order already cost one look at each key.
class LocalSort {
 public:
  /// Takes the memory of the index; throws std::bad_alloc where there is none.
  LocalSort(std::int64_t doubles, std::int64_t most_records);

  /// Bytes of the index for so many records.
  [[nodiscard]] static std::int64_t index_bytes(std::int64_t doubles, std::int64_t records);

  /// Sorts; says whether anything had to move. O(count log count + count · doubles).
  ///
  /// Keys may be equal only where the records' order is that of their index.
  bool run(const Records& records);

 private:
  struct Place {
    double key;
    std::int64_t record;
  };

  void sort_index(const Records& records);
  void move_records(const Records& records);

  std::vector<Place> index_;
  std::vector<double> lifted_;
};

}  // namespace contend::probe::sort
