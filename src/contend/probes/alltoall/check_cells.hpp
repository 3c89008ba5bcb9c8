#pragma once

#include <mpi.h>

#include <vector>

#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// Runs every cell once, untimed, and verifies its data. Collective.
///
/// Rank 0 says a line for each cell that is wrong or left out, and one at the end. Returns the exit
/// status: 1 when one was wrong.
[[nodiscard]] int check_cells(const std::vector<Cell>& cells, const MakeOperation& make,
                              MPI_Comm comm);

}  // namespace contend::probe::alltoall
