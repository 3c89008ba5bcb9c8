#pragma once

#include <mpi.h>

#include <cstdint>
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

}  // namespace contend::probe::alltoall
