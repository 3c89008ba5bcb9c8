#pragma once

#include <mpi.h>

#include <cstdint>
#include <new>
#include <string>

#include "sort/shares.hpp"

namespace contend::probe::sort {

/// Bytes that a rank needs for a sort; those of the rank with the longest share.
struct Need {
  /// The two arrays of m-vectors, unsorted and sorted: what the memory prediction is about.
  std::int64_t arrays;
  /// Beyond the prediction: the index of a local sort, at most 2/9 of one array and for long
  /// vectors next to nothing. What is kept for each rank (counts, places) is left out.
  std::int64_t index;

  [[nodiscard]] std::int64_t all() const { return arrays + index; }
};

/// What records of so many doubles need.
[[nodiscard]] Need need_of(const Shares& shares, std::int64_t doubles);

/// Why memory is not there, in one line with figures.
class NoMemory : public std::bad_alloc {
 public:
  explicit NoMemory(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

/// Knows how many ranks share each rank's memory.
class Hosts {
 public:
  /// Collective.
  explicit Hosts(MPI_Comm comm);

  /// Throws NoMemory on all ranks when the ranks of some host need more than it can give.
  ///
  /// Asked before memory is taken: Linux grants what it does not have, and ends a rank that then
  /// uses it. A thirty-second of what there is, and 32 MiB a rank, stay for the MPI library's
  /// buffers, for page tables and for everybody else; that is a margin and no prediction.
  /// Collective.
  void ask(const Need& need) const;

 private:
  MPI_Comm comm_;
  int ranks_on_host_ = 1;
};

}  // namespace contend::probe::sort
