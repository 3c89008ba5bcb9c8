#pragma once

#include <mpi.h>
#include <cstdint>
#include <string>
#include <vector>

namespace contend::probe::alltoall {

/// Which ranks share a node.
struct Nodes {
  /// Each rank's node; nodes count from 0 in the order of their first ranks.
  std::vector<int> of_rank;
  /// Each node's ranks, ascending. The first one leads.
  std::vector<std::vector<int>> ranks;

  [[nodiscard]] int count() const { return static_cast<int>(ranks.size()); }
};

/// Ranks that share memory share a node. Collective.
[[nodiscard]] Nodes find_nodes(MPI_Comm comm);

/// As many ranks as told on every node, in order; the last node may have fewer.
[[nodiscard]] Nodes divide_into_nodes(int ranks, std::int64_t ranks_per_node);

/// One rank's part of an all-to-all in phases: in each the rank that it sends to and the rank that
/// it receives from, -1 for none. In all phases together it meets every other rank once each way.
struct RankPhases {
  std::vector<int> to;
  std::vector<int> from;
};

/// This rank's part of a file of patterns, which has a line for every phase. Rank 0 reads, some
/// phases at a time, so that no rank has more in memory than its own part and those. Collective;
/// ends the program where the phases are no all-to-all of these ranks.
[[nodiscard]] RankPhases read_phases(const std::string& path, MPI_Comm comm);

}  // namespace contend::probe::alltoall
