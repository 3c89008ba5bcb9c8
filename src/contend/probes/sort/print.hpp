#pragma once

#include <mpi.h>

#include <string>

#include "sort/records.hpp"

namespace contend::probe::sort {

/// Prints the keys of all ranks' records to standard output, a line for each rank. Collective; for
/// small arrays, which all go through every rank's memory.
void print_keys(const std::string& title, const Records& records, MPI_Comm comm);

}  // namespace contend::probe::sort
