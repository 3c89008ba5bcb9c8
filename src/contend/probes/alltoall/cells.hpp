#pragma once

#include <vector>

#include "alltoall/algorithm.hpp"
#include "common/arguments.hpp"
#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// What decides which cells there are, and their order in a file of cells.
[[nodiscard]] std::vector<Option> axes();

/// Options besides, whose values make more cells of each: for all algorithms, or for those that
/// depend on them.
[[nodiscard]] std::vector<Option> options();

/// The cells of an algorithm and a size: one for each kind of counts, and for each value of the
/// option that the algorithm depends on. Throws BadInput.
///
/// Where all algorithms were asked for, those that are not for so many ranks, or not for uneven
/// counts, are left out.
[[nodiscard]] std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks);

/// The counts that a cell's labels stand for.
[[nodiscard]] Counts counts_of(const Cell& cell, int ranks);

/// The kind of counts of a name: "even" or "uneven".
[[nodiscard]] Counts::Kind counts_kind(const std::string& name);

}  // namespace contend::probe::alltoall
