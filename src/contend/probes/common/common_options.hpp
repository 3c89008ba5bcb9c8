#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/measure.hpp"
#include "common/probe.hpp"

namespace contend::probe {

/// A probe's axes, its own options, and those that all probes have.
[[nodiscard]] std::vector<Option> all_options(const Probe& probe);

/// What --help prints.
[[nodiscard]] std::string help_page(const Probe& probe);

/// When to stop, from the options that all probes have. Throws BadInput.
[[nodiscard]] Settings settings_from(const Arguments& arguments);

/// The text of a file that rank 0 reads, on all ranks. Collective. Throws BadInput.
[[nodiscard]] std::string read_on_first(const std::string& path, MPI_Comm comm);

}  // namespace contend::probe
