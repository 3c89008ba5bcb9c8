#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/global_clock.hpp"
#include "common/operation.hpp"
#include "common/record.hpp"

namespace contend::probe {

/// When a cell has been measured enough, and how.
struct Settings {
  std::int64_t least = 6;
  std::int64_t most = 1000;
  /// Half the width of the median's interval, as a part of the median.
  double precision = 0.05;
  /// Seconds that all cells may take together; infinite for no limit.
  double budget = 60.0;
  std::int64_t warm_ups = 1;
  /// Whether the data of every sample is looked at, not only of the first warm-up.
  bool verify = false;
};

/// How all ranks' programs shall end.
enum class Outcome { done = 0, wrong = 1, cannot_write = 3 };

/// Measures cells, one after the other. Collective; all ranks give the same cells.
///
/// A sample costs one broadcast, of the instant at which all start, and one gathering of what the
/// ranks' clocks showed. `record` is used on rank 0.
[[nodiscard]] Outcome measure_cells(const std::vector<Cell>& cells, const MakeOperation& make,
                                    const Settings& settings, GlobalClock& clock, Record& record,
                                    MPI_Comm world);

}  // namespace contend::probe
