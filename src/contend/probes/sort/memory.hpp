#pragma once

#include <mpi.h>
#include <cstdint>
#include <vector>

#include "common/machine.hpp"
#include "sort/records.hpp"

namespace contend::probe::sort {

/// Sorts a rank's records by key where they lie, equal keys by their index in the whole input.
///
/// Short records are moved themselves. Longer ones are moved once each, after an index of keys and
/// places has been sorted: 16 bytes a record, taken beforehand, and never a third array of records.
/// Records that are in order already cost one look at each key.
class LocalSort {
 public:
  LocalSort() = default;
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

/// Bytes that a rank needs for a sort: those of the rank with the longest share.
struct Need {
  /// The two arrays of m-vectors, unsorted and sorted: what the prediction of memory is about.
  std::int64_t arrays;
  /// Beyond the prediction: the index of the local sorts, at most 2/9 of one array and next to
  /// nothing for long vectors. Counts and places, some words for each rank, are left out.
  std::int64_t index;

  [[nodiscard]] std::int64_t all() const { return arrays + index; }
};

/// What records of so many doubles need.
[[nodiscard]] Need need_of(const Shares& shares, std::int64_t doubles);

/// Throws NoMemory on all ranks when the ranks of some machine need more than it can give.
///
/// Asked before memory is taken: Linux grants what it does not have, and ends a rank that then uses
/// it. A thirty-second of what is available, and 32 MiB a rank, are left to the MPI library's
/// buffers, to page tables and to everybody else; that is a margin and no prediction. Collective.
void ask_for(const Need& need, const Machines& machines, MPI_Comm comm);

/// All memory of a rank's part of a sort: two arrays of its share's length, and what the local
/// sorts need.
class Arrays {
 public:
  /// Takes and touches it. Collective; throws NoMemory or std::bad_alloc on all ranks when one has
  /// none.
  Arrays(const Shares& shares, std::int64_t doubles, const Machines& machines, MPI_Comm comm);

  [[nodiscard]] const Records& unsorted() const { return unsorted_; }
  [[nodiscard]] const Records& sorted() const { return sorted_; }
  /// Makes every double of the sorted array no number.
  void poison_sorted();
  [[nodiscard]] LocalSort& local_sort() { return local_sort_; }

 private:
  std::vector<double> unsorted_memory_;
  std::vector<double> sorted_memory_;
  LocalSort local_sort_;
  Records unsorted_{};
  Records sorted_{};
};

}  // namespace contend::probe::sort
