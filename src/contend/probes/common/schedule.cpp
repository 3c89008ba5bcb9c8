#include "common/schedule.hpp"

#include <utility>

namespace contend::probe {

Schedule::Schedule(std::size_t cells, double end) : end_(end) {
  for (std::size_t cell = 0; cell < cells; ++cell) {
    round_.push_back({cell, 0.0});
  }
}

std::optional<Schedule::Turn> Schedule::next(double now) {
  for (;;) {
    if (round_.empty()) {
      std::swap(round_, next_round_);
      if (round_.empty()) {
        return std::nullopt;
      }
    }
    const Waiting waiting = round_.front();
    const double left = end_ - now;
    const double share = left / static_cast<double>(round_.size());
    round_.pop_front();
    if (left > waiting.least) {
      return Turn{waiting.cell, now + share};
    }
    given_up_.push_back(waiting.cell);
  }
}

void Schedule::again(std::size_t cell, double least) { next_round_.push_back({cell, least}); }

}  // namespace contend::probe
