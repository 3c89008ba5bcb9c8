#pragma once

#include <mpi.h>

#include <deque>
#include <vector>

#include "common/exchange.hpp"

namespace contend::probe {

/// The ranks that work on a cell, and rank 0, which leads them even if it has nothing else to do.
///
/// Keeps the communicators of the last few different teams, as making one can take long.
class Team {
 public:
  explicit Team(MPI_Comm world);

  /// Says who works on the next cell. Collective over all ranks.
  void choose(bool takes_part);

  [[nodiscard]] bool member() const { return member_; }
  /// Whether all ranks are in it.
  [[nodiscard]] bool whole() const {
    return static_cast<int>(world_ranks_.size()) == size_of_world_;
  }
  /// The team's ranks in their old order; none for a rank that is not in it.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// The ranks in the world of the team's ranks.
  [[nodiscard]] const std::vector<int>& world_ranks() const { return world_ranks_; }

 private:
  struct Known {
    std::vector<int> world_ranks;
    Communicator comm;
  };

  Communicator world_;
  int size_of_world_;
  bool member_ = true;
  std::vector<int> world_ranks_;
  MPI_Comm comm_;
  std::deque<Known> known_;
};

}  // namespace contend::probe
