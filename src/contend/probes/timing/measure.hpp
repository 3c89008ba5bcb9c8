#pragma once

#include <mpi.h>

#include <vector>

#include "common/operation.hpp"
#include "io/record.hpp"
#include "timing/clock.hpp"
#include "timing/pacing.hpp"

namespace contend::probe {

/// How all ranks' programs shall end.
enum class Outcome { done = 0, wrong = 1, cannot_write = 3 };

/// Measures cells, one after the other. Collective; all ranks give the same cells.
///
/// A sample costs one broadcast, of the instant at which all start, and one gathering of what the
/// ranks' clocks showed. `record` is rank 0's; null on the others.
[[nodiscard]] Outcome measure_cells(const std::vector<Cell>& cells, const MakeOperation& make,
                                    const Settings& settings, GlobalClock& clock, Record* record,
                                    MPI_Comm world);

}  // namespace contend::probe
