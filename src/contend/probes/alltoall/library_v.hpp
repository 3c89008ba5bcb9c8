#pragma once

#include "alltoall/blocks.hpp"
#include "compat/alltoall.hpp"

namespace contend::probe::alltoall {

/// The arguments of MPI_Alltoallv for blocks. Collective; throws Unsupported, on all ranks, where
/// the library cannot count that many bytes.
[[nodiscard]] UnequalAlltoall unequal_alltoall(const Blocks& blocks);

}  // namespace contend::probe::alltoall
