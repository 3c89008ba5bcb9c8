#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

#include "contend/congestion/simulate.hpp"

namespace contend {

/// Processor seconds of this thread. Asking takes a system call, so it is done once per batch.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Splits the processor time of a batch between drawing and counting, by the wall clock.
class Stopwatch {
 public:
  void start() {
    began_ = processor_seconds();
    last_ = std::chrono::steady_clock::now();
  }
  void drew() { drawing_ += lap(); }
  void counted() { counting_ += lap(); }

  /// Called by the thread that called start().
  void stop() { used_ += processor_seconds() - began_; }

  void add_to(BatchResult& result) const {
    const double share = drawing_ / std::max(drawing_ + counting_, 1e-12);
    result.drawing_seconds += used_ * share;
    result.counting_seconds += used_ * (1 - share);
  }

 private:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    return passed.count();
  }

  double began_ = 0;
  double used_ = 0;
  double drawing_ = 0;
  double counting_ = 0;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace contend
