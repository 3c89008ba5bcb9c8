#pragma once

namespace contend::probe {

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
