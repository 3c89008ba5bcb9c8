#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>

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

// Compiled with -DCONTEND_FAULT=NAME, a sort spoils its own result, so that a test sees the
// verification find it.
#define CONTEND_FAULT_NONE 0
#define CONTEND_FAULT_ORDER 1
#define CONTEND_FAULT_LOSS 2
#define CONTEND_FAULT_PAYLOAD 3
#define CONTEND_FAULT_BOUNDARY 4

#ifndef CONTEND_FAULT
#define CONTEND_FAULT CONTEND_FAULT_NONE
#endif

namespace contend::probe::sort {

/// Does nothing, unless a fault is compiled in.
inline void plant_fault(const Records& sorted, std::int64_t rank, std::int64_t ranks) {
  if (CONTEND_FAULT == CONTEND_FAULT_NONE || sorted.count < 2) {
    return;
  }
  const auto swap_records = [&](std::int64_t left, std::int64_t right) {
    std::swap_ranges(sorted[left], sorted[left] + sorted.doubles, sorted[right]);
  };
  const std::int64_t last = sorted.count - 1;
  switch (CONTEND_FAULT) {
    case CONTEND_FAULT_ORDER:
      return swap_records(0, last);
    case CONTEND_FAULT_LOSS:
      std::copy_n(sorted[last], sorted.doubles, sorted[last - 1]);
      return;
    case CONTEND_FAULT_PAYLOAD:
      sorted[last][sorted.doubles - 1] += 1;
      return;
    case CONTEND_FAULT_BOUNDARY:
      // The built input's keys change places between the first rank and the last, and so on.
      for (std::int64_t record = 0; record <= last; ++record) {
        sorted[record][0] += static_cast<double>(sorted.count * (ranks - 1 - 2 * rank));
      }
      return;
  }
}

/// Ends when all ranks have come here.
void wait_for_all(MPI_Comm comm);

/// The lowest rank that has a reason to say no; as many as there are ranks when none has.
/// Collective.
[[nodiscard]] int first_refusing(bool refuses, MPI_Comm comm);

/// Prints the keys of all ranks' records to standard output, a line for each rank. Collective; for
/// small arrays, which all go through every rank's memory.
void print_keys(const std::string& title, const Records& records, MPI_Comm comm);

}  // namespace contend::probe::sort
