#pragma once

#include <mpi.h>
#include <cstdint>
#include <vector>

#include "common/machine.hpp"
#include "common/ranks.hpp"

namespace contend::probe {

/// Nanoseconds of CLOCK_MONOTONIC, which never steps; comparable on one machine only.
[[nodiscard]] std::int64_t local_now();

/// What one reading of the local clock costs in seconds: the least of several means.
[[nodiscard]] double timer_cost();

/// Seconds since 1970 by the machine's calendar, which may step: only to say when a run was.
[[nodiscard]] double unix_now();

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

/// What a synchronisation found, one value a rank; filled in on rank 0 only.
struct Synchronised {
  /// Global time at which it ended.
  double at = 0.0;
  /// Global time minus the rank's own CLOCK_MONOTONIC, in seconds.
  std::vector<double> offset;
  /// Seconds that the offset grows by in a second.
  std::vector<double> drift;
  /// Round trip of the exchange that the offset comes from.
  std::vector<double> round_trip;
  /// By how much the model was wrong when measured again; 0 at first.
  std::vector<double> residual;
};

/// Time that means the same on all ranks: seconds since rank 0 made its clock, by rank 0's clock.
///
/// Ranks that read the same kernel's clock share a model. One rank of each clock exchanges messages
/// with one whose clock has been set already (a binomial tree, log2 of the number of clocks in
/// depth): it asks for the time several times and believes the answer that came back fastest, as
/// the truth then lies within half a round trip. Source: F. Cristian, Probabilistic clock
/// synchronization, Distributed Computing 3 (1989).
class GlobalClock {
 public:
  /// Collective. `apart`: take every rank's clock for one of its own.
  GlobalClock(MPI_Comm comm, const Machines& machines, bool apart);

  /// Measures all clocks again. Collective.
  Synchronised synchronise();

  /// Global time in seconds at an instant of the local clock in nanoseconds.
  [[nodiscard]] double global(std::int64_t local_ns) const;
  [[nodiscard]] double now() const;
  /// The local clock's time in nanoseconds at a global instant in seconds.
  [[nodiscard]] std::int64_t local(double global_s) const;

  /// When global time began, in seconds since 1970, by this rank's calendar. Meant for rank 0.
  [[nodiscard]] double epoch_unix() const { return epoch_unix_; }

  /// Whether it is time to synchronise: soon after the start, when drifts are unknown, then every
  /// other second. Never where all ranks share one clock. Ranks may differ: rank 0 decides.
  [[nodiscard]] bool old() const;

 private:
  void exchange_with_parent(int parent);
  void answer_child(int child) const;

  Communicator world_;
  // The ranks with the same clock; the first of each are in `setters_` too.
  Communicator sharers_;
  Communicator setters_;
  ClockModel model_;
  std::int64_t origin_ns_ = 0;
  double epoch_unix_ = 0.0;
  std::int64_t synchronised_ns_ = 0;
  std::int64_t interval_ns_;
  int clocks_ = 1;
  double round_trip_ = 0.0;
  double residual_ = 0.0;
};

}  // namespace contend::probe
