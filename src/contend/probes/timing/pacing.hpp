#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

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
  /// Seconds between a sample's end and the next one's start, at least.
  double pause = 0.0;
  /// Whether the data of every sample is looked at, not only of the first warm-up.
  bool verify = false;
};

/// The median of some results and where it lies with 95 % confidence.
struct Interval {
  double low;
  double median;
  double high;
};

/// The median of sorted values with its interval between two order statistics; nothing for fewer
/// than six values, which cannot give one.
///
/// The k-th least and k-th greatest, where fewer than k of n values lie on one side of the median
/// with a probability of at most 2.5 %: binomial for n up to 1000, its normal approximation beyond.
/// Source: J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, 2.2.
[[nodiscard]] std::optional<Interval> median_interval(const std::vector<double>& sorted);

/// The results of a cell so far, in seconds.
class Results {
 public:
  void add(double seconds, bool late);

  /// How many there are, and how many of them had a rank that started late.
  [[nodiscard]] std::size_t count() const { return all_.size(); }
  [[nodiscard]] std::size_t late() const { return all_.size() - on_time_.size(); }
  /// What the statistics use, sorted: results without a late rank, or all of them where fewer than
  /// six are left.
  [[nodiscard]] const std::vector<double>& used() const;
  /// Whether the interval reaches no further than this part of the median, up or down on average.
  /// Never, where that part is 0: who asks for it wants all that time and repetitions allow.
  [[nodiscard]] bool narrow(double precision) const;

 private:
  std::vector<double> all_;
  std::vector<double> on_time_;
};

/// Whether a rank started too late for a result: by more than 5 % of it, and more than 10 us.
[[nodiscard]] bool too_late(double lateness, double seconds);

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

/// How far ahead the start of a sample is announced, so that all ranks have heard of it by then.
///
/// Learns from how long ranks took to be ready: the margin follows the slowest of late times at
/// once, up to a limit, and forgets it slowly.
class Margin {
 public:
  /// In seconds.
  [[nodiscard]] double seconds() const { return margin_; }
  /// The last rank was ready this long after the announcement.
  void learn(double seconds);

 private:
  double margin_ = 200e-6;
};

}  // namespace contend::probe
