#include "alltoall/parameters.hpp"

#include "common/check.hpp"

namespace contend::probe::alltoall {

Parameters ParameterMaker::of(const Cell& cell, const std::string& option, MPI_Comm comm) {
  Parameters made;
  if (option == "batch") {
    made.batch = cell.integer("batch");
  } else if (option == "in-flight") {
    made.in_flight = cell.integer("in_flight");
  } else if (option == "radix") {
    made.radix = cell.integer("radix");
  } else if (option == "ranks-per-node") {
    made.nodes = nodes(cell.integer("ranks_per_node"), comm);
  }
  return made;
}

const Nodes& ParameterMaker::nodes(std::int64_t ranks_per_node, MPI_Comm comm) {
  auto found = nodes_.find(ranks_per_node);
  if (found == nodes_.end()) {
    found = nodes_
                .emplace(ranks_per_node, ranks_per_node == 0
                                             ? find_nodes(comm)
                                             : divide_into_nodes(size_of(comm), ranks_per_node))
                .first;
  }
  return found->second;
}

}  // namespace contend::probe::alltoall
