#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace contend::probe {

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

}  // namespace contend::probe
