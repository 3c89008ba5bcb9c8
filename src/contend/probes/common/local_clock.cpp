#include "common/local_clock.hpp"

#include <ctime>
#include <limits>

namespace contend::probe {

std::int64_t local_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

double timer_cost() {
  constexpr int kBatches = 20;
  constexpr int kReadings = 500;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::int64_t start = local_now();
    std::int64_t last = start;
    for (int reading = 0; reading < kReadings; ++reading) {
      last = local_now();
    }
    // A batch that was interrupted costs more than the clock does.
    least = last - start < least ? last - start : least;
  }
  return static_cast<double>(least) / kReadings * 1e-9;
}

double unix_now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace contend::probe
