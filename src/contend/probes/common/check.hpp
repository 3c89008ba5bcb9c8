#pragma once

#include <mpi.h>

#include <string>

namespace contend::probe {

/// Says once, at the start, how the probe calls itself in what it prints: "contend-pingpong".
void name_program(const std::string& name);
/// What name_program() was told.
[[nodiscard]] const std::string& program_name();

/// Ends every rank with one line on standard error, "contend-PROBE: rank R: MESSAGE", and a status.
[[noreturn]] void fail(const std::string& message, int status = 1);

/// Ends every rank when an MPI call failed, with the library's own words for its code.
///
/// Every MPI call of a probe goes through here: check("MPI_Bcast", MPI_Bcast(...)).
void check(const char* call, int code);

/// This process's rank among the ranks of a communicator.
[[nodiscard]] int rank_in(MPI_Comm comm);
/// How many ranks a communicator has.
[[nodiscard]] int size_of(MPI_Comm comm);

}  // namespace contend::probe
