#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "common/machine.hpp"
#include "sort/local_sort.hpp"
#include "sort/records.hpp"
#include "sort/shares.hpp"

namespace contend::probe::sort {

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
