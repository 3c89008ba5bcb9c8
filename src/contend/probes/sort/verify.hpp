#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sort/input.hpp"
#include "sort/records.hpp"

namespace contend::probe::sort {

/// What all records together come to, in whatever order: equal for permutations of each other, and
/// for anything else with a chance of 2^-128.
struct Summary {
  std::int64_t count = 0;
  /// Sums of two independent hashes of whole records.
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  void add(const Summary& other);
  [[nodiscard]] bool operator==(const Summary& other) const;
};

/// O(count · doubles).
[[nodiscard]] Summary summarise(const Records& records);

/// What is wrong with the sorted records of all ranks, as far as this rank sees; nothing when they
/// are right. Collective.
///
/// Right is: each rank has its share; keys are in order on every rank and from rank to rank, ranks
/// without records left out; equal keys are in the order of the input; every record is what the
/// input has at its index, in all its doubles; and all are a permutation of the input. Records of
/// one double have no index, so that for them only keys and the permutation tell.
[[nodiscard]] std::optional<std::string> find_wrong(const Input& input, const Summary& of_input,
                                                    const Records& sorted, const Shares& shares,
                                                    MPI_Comm comm);

}  // namespace contend::probe::sort
