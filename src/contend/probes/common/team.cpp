#include "common/team.hpp"

#include <numeric>

#include "common/check.hpp"
#include "common/waiting.hpp"

namespace contend::probe {

Team::Team(MPI_Comm world)
    : world_(duplicate(world)), world_ranks_(static_cast<std::size_t>(size_of(world))) {
  std::iota(world_ranks_.begin(), world_ranks_.end(), 0);
}

void Team::choose(bool takes_part) {
  const int rank = rank_in(world_.get());
  const bool joins = takes_part || rank == 0;
  // How many ranks join, and how many change sides.
  const int mine[2] = {joins ? 1 : 0, joins != member_ ? 1 : 0};
  int sum[2] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Iallreduce",
        MPI_Iallreduce(mine, sum, 2, MPI_INT, MPI_SUM, world_.get(), &request));
  wait(request);
  if (sum[1] == 0) {
    return;
  }
  const int ranks = size_of(world_.get());
  member_ = joins;
  whole_ = sum[0] == ranks;
  if (whole_) {
    part_ = Communicator();
    world_ranks_.resize(static_cast<std::size_t>(ranks));
    std::iota(world_ranks_.begin(), world_ranks_.end(), 0);
    return;
  }
  part_ = split(world_.get(), joins ? 0 : -1);
  if (joins) {
    world_ranks_.resize(static_cast<std::size_t>(sum[0]));
    check("MPI_Allgather", MPI_Allgather(&rank, 1, MPI_INT, world_ranks_.data(), 1, MPI_INT,
                                         part_.get()));
  }
}

}  // namespace contend::probe
