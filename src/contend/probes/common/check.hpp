#pragma once

#include <mpi.h>

#include <string>

namespace contend::probe {

/// Ends every rank with one line on standard error, "contend-PROBE: rank R: MESSAGE", and a status.
[[noreturn]] void fail(const std::string& message, int status = 1);

/// Ends every rank when an MPI call failed, with the library's own words for its code.
///
/// Every MPI call of a probe goes through here: check("MPI_Bcast", MPI_Bcast(...)).
void check(const char* call, int code);

}  // namespace contend::probe
