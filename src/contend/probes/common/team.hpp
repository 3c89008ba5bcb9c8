#pragma once

#include <mpi.h>

#include <vector>

#include "common/exchange.hpp"

namespace contend::probe {

/// The ranks that work on a cell, and rank 0, which leads them even if it has nothing else to do.
class Team {
 public:
  explicit Team(MPI_Comm world);

  /// Says who works on the next cell. Collective over all ranks.
  void choose(bool takes_part);

  [[nodiscard]] bool member() const { return member_; }
  /// Whether all ranks are in it.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] MPI_Comm comm() const { return whole_ ? world_.get() : part_.get(); }
  /// The ranks in the world of the team's ranks.
  [[nodiscard]] const std::vector<int>& world_ranks() const { return world_ranks_; }

 private:
  Communicator world_;
  Communicator part_;
  bool member_ = true;
  bool whole_ = true;
  std::vector<int> world_ranks_;
};

}  // namespace contend::probe
