#pragma once

#include <mpi.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace contend::probe {

/// Where every rank of a communicator runs, one value a rank; known to all ranks.
struct Machines {
  std::vector<std::string> host;
  std::vector<std::int64_t> pid;
  /// Processors that the rank may use, in the kernel's form: "0-3,8".
  std::vector<std::string> cpus;
  /// Processors of the rank's machine that are online.
  std::vector<std::int64_t> host_cpus;
  /// The same word for ranks under one kernel, however many hosts they believe to be on.
  std::vector<std::string> machine;
  /// The same word for ranks that read the same clock.
  std::vector<std::string> clock;
};

/// Asks the machine about this rank and tells all others. Collective.
[[nodiscard]] Machines find_machines(MPI_Comm comm);

/// The numbers in a list of the kernel, "0-3,8"; what cannot be read is left out.
[[nodiscard]] std::set<int> parse_cpus(const std::string& list);

/// Whether somewhere more ranks are bound to processors than those are.
///
/// Looks, on each machine, at every set of processors that a rank is bound to, and counts the ranks
/// that may run nowhere else. O(p d) for p ranks with d different sets on a machine.
[[nodiscard]] bool oversubscribed(const Machines& machines);

}  // namespace contend::probe
