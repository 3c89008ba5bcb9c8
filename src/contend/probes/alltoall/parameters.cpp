#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "alltoall/parameters.hpp"
#include "common/ranks.hpp"

namespace contend::probe::alltoall {

namespace {

// Nodes from one number for every rank that those of a node have in common.
Nodes group(const std::vector<int>& mark) {
  Nodes nodes;
  std::vector<int> node_of_mark(mark.size(), -1);
  for (std::size_t rank = 0; rank < mark.size(); ++rank) {
    int& node = node_of_mark[static_cast<std::size_t>(mark[rank])];
    if (node < 0) {
      node = nodes.count();
      nodes.ranks.emplace_back();
    }
    nodes.of_rank.push_back(node);
    nodes.ranks[static_cast<std::size_t>(node)].push_back(static_cast<int>(rank));
  }
  return nodes;
}

constexpr int kBadInput = 2;

/// Whether a rank meets every other one once.
bool meets_all(const std::vector<int>& met, int rank, int ranks) {
  std::vector<int> times(static_cast<std::size_t>(ranks), 0);
  times[static_cast<std::size_t>(rank)] = 1;
  for (const int other : met) {
    if (other >= 0) {
      ++times[static_cast<std::size_t>(other)];
    }
  }
  return std::all_of(times.begin(), times.end(), [](int number) { return number == 1; });
}

}  // namespace

Nodes find_nodes(MPI_Comm comm) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  CHECKED(MPI_Comm_split_type, comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared);
  const Communicator node(shared);
  int leader = rank;
  CHECKED(MPI_Bcast, &leader, 1, MPI_INT, 0, node.get());
  std::vector<int> leaders(static_cast<std::size_t>(size_of(comm)));
  CHECKED(MPI_Allgather, &leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm);
  return group(leaders);
}

Nodes divide_into_nodes(int ranks, std::int64_t ranks_per_node) {
  std::vector<int> mark;
  for (int rank = 0; rank < ranks; ++rank) {
    mark.push_back(static_cast<int>(rank / ranks_per_node));
  }
  return group(mark);
}

PatternParts read_phases(const std::string& path, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  PatternParts made = read_parts(path, comm);
  if (!meets_all(made.to, rank, ranks) || !meets_all(made.from, rank, ranks)) {
    fail(path + ": expected phases in which each rank sends to each other rank once, and rank " +
             std::to_string(rank) + " does not, or is not sent to",
         kBadInput);
  }
  return made;
}

}  // namespace contend::probe::alltoall
