#pragma once

#include <mpi.h>

namespace contend::probe::sort {

/// Ends when all ranks have come here.
void wait_for_all(MPI_Comm comm);

/// The lowest rank that has a reason to say no; as many as there are ranks when none has.
/// Collective.
[[nodiscard]] int first_refusing(bool refuses, MPI_Comm comm);

}  // namespace contend::probe::sort
