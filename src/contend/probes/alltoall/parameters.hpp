#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>

#include "alltoall/algorithm.hpp"
#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// Makes the parameters that cells' labels stand for; looks for nodes once.
class ParameterMaker {
 public:
  /// Those of an algorithm that depends on an option, which "" is for none. Collective.
  [[nodiscard]] Parameters of(const Cell& cell, const std::string& option, MPI_Comm comm);

 private:
  const Nodes& nodes(std::int64_t ranks_per_node, MPI_Comm comm);

  std::map<std::int64_t, Nodes> nodes_;
};

}  // namespace contend::probe::alltoall
