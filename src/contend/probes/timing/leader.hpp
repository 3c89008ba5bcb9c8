#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/record.hpp"
#include "timing/measure.hpp"
#include "timing/pacing.hpp"

namespace contend::probe {

/// What all ranks do next, as rank 0 announces it.
struct Order {
  enum class Kind {
    turn,         ///< work on the cell `value`
    synchronise,  ///< measure the clocks
    sample,       ///< start at the global instant `value`, or behind a barrier where it is NaN
    explain,      ///< the team's rank `value` says what is wrong
    stop          ///< the turn is over, or, between turns, the program, with the status `value`
  };
  Kind kind;
  double value = 0.0;
};

/// Decides on rank 0 which cell is measured, how often, and keeps what comes back.
class Leader {
 public:
  Leader(const std::vector<Cell>& cells, const Settings& settings, Record& record, int ranks);

  /// Between turns: turn, synchronise or stop. Times are global seconds.
  [[nodiscard]] Order next_turn(double now, bool clock_old);
  /// The cell cannot be measured here.
  void refuse(const Ending& ending);
  /// What run() stamps, before the first sample of a turn; "start" and "end" included.
  void begin(const std::vector<std::string>& columns);
  /// Within a turn: sample (the instant is missing yet), synchronise, explain or stop. Clocks can
  /// only be measured by all ranks, so where these are not together the turn stops for it.
  [[nodiscard]] Order next_sample(double now, bool clock_old, bool together);
  /// Until when the network rests after the last sample; of any cell.
  [[nodiscard]] double rests_until() const { return rests_until_; }
  /// When the sample that was ordered at a time shall start; not-a-number for behind a barrier.
  [[nodiscard]] double start_after(double now, bool by_clock);
  /// Whether the next sample's data is looked at, given how many the turn had.
  [[nodiscard]] static bool verified(const Settings& settings, std::int64_t index);

  /// What a sample's ranks sent, each: whether its data is wrong, when it was ready, its stamps.
  void take(const std::vector<double>& gathered, const std::vector<int>& world_ranks);
  /// What the rank that was asked to explain said.
  void hear(const std::string& said);
  /// The clocks were measured: between the samples around it lies more than overhead.
  void clock(const Synchronised& found);
  /// What went wrong with the file; empty when nothing did.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  struct Progress {
    Results results;
    std::uint32_t repetitions = 0;
    std::optional<bool> verified;
    bool begun = false;
  };

  void end_cells_given_up();
  [[nodiscard]] Order end_of_turn(double now);
  void end(std::size_t cell, const Ending& ending);
  template <class Write>
  void keep(Write write);

  const std::vector<Cell>& cells_;
  const Settings& settings_;
  Record& record_;
  std::size_t ranks_;
  Schedule schedule_;
  Margin margin_;
  std::vector<Progress> progress_;
  std::vector<double> times_;
  std::vector<double> overhead_;
  double rests_until_ = -std::numeric_limits<double>::infinity();
  std::string problem_;
  Outcome outcome_ = Outcome::done;

  // Of the turn.
  std::size_t cell_ = 0;
  double until_ = 0.0;
  double began_ = 0.0;
  double least_ = 0.0;
  double last_ = 0.0;
  std::int64_t index_ = 0;
  // When it was last asked what comes next, and how many samples there had been.
  double asked_ = 0.0;
  std::int64_t seen_ = 0;
  std::size_t columns_ = 0;
  bool closed_ = false;
  int wrong_ = -1;
  double ordered_ = 0.0;
  double agreed_ = 0.0;
  double last_end_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace contend::probe
