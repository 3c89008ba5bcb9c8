#include "common/start.hpp"

#include <algorithm>

namespace contend::probe {

namespace {

constexpr double kReserve = 1.25;
constexpr double kLeastMargin = 5e-6;
// One rank that was held up for long must not slow down all that follows.
constexpr double kMostMargin = 0.1;
constexpr double kForget = 0.97;

}  // namespace

void Margin::learn(double seconds) {
  const double wanted = kReserve * seconds + kLeastMargin;
  margin_ = std::min(std::max(wanted, kForget * margin_), kMostMargin);
}

}  // namespace contend::probe
