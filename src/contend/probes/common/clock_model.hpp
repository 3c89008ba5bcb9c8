#pragma once

namespace contend::probe {

/// What a local clock shows against the global one: an offset that grows by a drift.
///
/// A Kalman filter of the two: each measurement counts by how sure it is, against what the earlier
/// ones foretell, and a drift may change slowly with temperature. Seconds everywhere.
class ClockModel {
 public:
  /// The global time at a local one.
  [[nodiscard]] double global(double local) const;
  /// The local time at a global one.
  [[nodiscard]] double local(double global) const;

  /// Takes in that the clocks showed these times at one moment, give or take an error (standard
  /// deviation). Returns by how much the model was wrong; 0 for the first measurement.
  double measure(double local, double global, double error);

  /// Global time minus local time when last measured.
  [[nodiscard]] double offset() const { return offset_; }
  /// Seconds that the offset grows by in a second.
  [[nodiscard]] double drift() const { return drift_; }

 private:
  bool measured_ = false;
  double reference_ = 0.0;
  double offset_ = 0.0;
  double drift_ = 0.0;
  // Covariance of offset and drift at the reference.
  double variance_offset_ = 0.0;
  double covariance_ = 0.0;
  double variance_drift_ = 0.0;
};

}  // namespace contend::probe
