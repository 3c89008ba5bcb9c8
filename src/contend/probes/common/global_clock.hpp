#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "common/clock_model.hpp"
#include "common/exchange.hpp"
#include "common/machine.hpp"

namespace contend::probe {

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
  std::int64_t synchronised_ns_ = 0;
  std::int64_t interval_ns_;
  int clocks_ = 1;
  double round_trip_ = 0.0;
  double residual_ = 0.0;
};

}  // namespace contend::probe
