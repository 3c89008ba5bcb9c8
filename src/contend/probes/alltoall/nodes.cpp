#include "alltoall/nodes.hpp"

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

}  // namespace

Nodes find_nodes(MPI_Comm comm) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  check("MPI_Comm_split_type",
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared));
  const Communicator node(shared);
  int leader = rank;
  check("MPI_Bcast", MPI_Bcast(&leader, 1, MPI_INT, 0, node.get()));
  std::vector<int> leaders(static_cast<std::size_t>(size_of(comm)));
  check("MPI_Allgather", MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm));
  return group(leaders);
}

Nodes divide_into_nodes(int ranks, std::int64_t ranks_per_node) {
  std::vector<int> mark;
  for (int rank = 0; rank < ranks; ++rank) {
    mark.push_back(static_cast<int>(rank / ranks_per_node));
  }
  return group(mark);
}

}  // namespace contend::probe::alltoall
