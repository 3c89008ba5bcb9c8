#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace contend::probe {

/// Says once, at the start, whether ranks share processors (see machine.hpp).
///
/// Where they do, a rank that waits takes time from the rank that it waits for, and some MPI
/// libraries never give it up while they wait; so waiting here then means to look, and to give the
/// processor away between looks.
void set_crowded(bool crowded);
/// What set_crowded() was told.
[[nodiscard]] bool crowded();

/// Waits for a request: MPI_Wait, or on crowded machines MPI_Test again and again.
void wait(MPI_Request& request);
/// The same, and what became of it.
void wait(MPI_Request& request, MPI_Status& status);
/// Waits for all requests: MPI_Waitall, or on crowded machines MPI_Testall again and again.
void wait_all(std::vector<MPI_Request>& requests);
/// Waits for one of the requests, and gives its index; MPI_UNDEFINED where there is none left.
/// MPI_Waitany, or on crowded machines MPI_Testany again and again.
[[nodiscard]] int wait_any(std::vector<MPI_Request>& requests);
/// Waits for a request of a rank that has nothing to do: sleeps between looks, up to 1 ms.
void wait_asleep(MPI_Request& request);

/// Waits until all ranks have come here: MPI_Barrier, or on crowded machines MPI_Ibarrier and
/// looks.
void pass_barrier(MPI_Comm comm);

/// Waits until an instant of the local clock: asleep while it is far and the machine is crowded,
/// then yielding where that is, at last by watching the clock.
void wait_until(std::int64_t local_ns);

}  // namespace contend::probe
