#pragma once

#include <mpi.h>
#include <cstdint>
#include <string>
#include <vector>

#include "io/pattern_file.hpp"

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

/// This rank's part of a file of patterns, which has a line for every phase of an all-to-all: in
/// all of them together it meets every other rank once each way. Collective; ends the program where
/// the phases are no all-to-all of these ranks.
[[nodiscard]] PatternParts read_phases(const std::string& path, MPI_Comm comm);

}  // namespace contend::probe::alltoall
