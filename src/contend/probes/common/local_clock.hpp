#pragma once

#include <cstdint>

namespace contend::probe {

/// Nanoseconds of CLOCK_MONOTONIC, which never steps; comparable on one machine only.
[[nodiscard]] std::int64_t local_now();

/// What one reading of the local clock costs in seconds: the least of several means.
[[nodiscard]] double timer_cost();

/// Seconds since 1970 by the machine's calendar, which may step: only to say when a run was.
[[nodiscard]] double unix_now();

}  // namespace contend::probe
