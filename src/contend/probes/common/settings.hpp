#pragma once

#include <cstdint>

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

}  // namespace contend::probe
