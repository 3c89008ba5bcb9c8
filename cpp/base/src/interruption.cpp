#include "contend/base/interruption.hpp"

#include <ctime>

namespace contend {
namespace {

thread_local Interruption* interruption = nullptr;
thread_local const std::atomic<bool>* ended_with = nullptr;

/// A clock of a few milliseconds, which is read five times as fast as an exact one.
std::chrono::nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void check_interruption() {
  if (ended_with != nullptr && ended_with->load(std::memory_order_relaxed)) throw Interrupted();
  Interruption* const asks = interruption;
  if (asks == nullptr) return;
  const std::chrono::nanoseconds time = now();
  if (time < asks->next_) return;
  asks->next_ = time + asks->interval_;
  asks->ask_();
}

Interruption::Interruption(Question ask, std::chrono::nanoseconds interval)
    : ask_(ask), interval_(interval), next_(now() + interval), outer_(interruption) {
  interruption = this;
}

Interruption::~Interruption() { interruption = outer_; }

EndsWith::EndsWith(const std::atomic<bool>& ended) : outer_(ended_with) { ended_with = &ended; }

EndsWith::~EndsWith() { ended_with = outer_; }

}  // namespace contend
