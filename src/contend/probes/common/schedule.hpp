#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace contend::probe {

/// Shares the time of a run over its cells.
///
/// Cells get turns in their order, each an equal share of the time left. Those that had to stop
/// before they were done get further turns from the time that others did not need.
class Schedule {
 public:
  struct Turn {
    std::size_t cell;
    /// When the cell's share is used up.
    double until;
  };

  /// `end`: when the time of the whole run is over; infinite for no limit.
  Schedule(std::size_t cells, double end);

  /// Whose turn it is at a time; nothing when all are done or no time is left.
  [[nodiscard]] std::optional<Turn> next(double now);
  /// The cell of the last turn needs another; a turn of it takes at least this long.
  void again(std::size_t cell, double least);

  [[nodiscard]] double end() const { return end_; }
  /// The cells that were never done, in no order; to be asked when next() gives nothing.
  [[nodiscard]] const std::vector<std::size_t>& given_up() const { return given_up_; }

 private:
  struct Waiting {
    std::size_t cell;
    double least;
  };

  double end_;
  std::deque<Waiting> round_;
  std::deque<Waiting> next_round_;
  std::vector<std::size_t> given_up_;
};

}  // namespace contend::probe
