#include "common/team.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/waiting.hpp"

namespace contend::probe {

namespace {

// Libraries have room for some two thousand communicators.
constexpr std::size_t kMostKnown = 64;

}  // namespace

Team::Team(MPI_Comm world)
    : world_(duplicate(world)), size_of_world_(size_of(world)), comm_(world_.get()) {
  for (int rank = 0; rank < size_of_world_; ++rank) {
    world_ranks_.push_back(rank);
  }
}

void Team::choose(bool takes_part) {
  member_ = takes_part || rank_in(world_.get()) == 0;
  const char joins = member_ ? 1 : 0;
  std::vector<char> all(static_cast<std::size_t>(size_of_world_));
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Iallgather",
        MPI_Iallgather(&joins, 1, MPI_CHAR, all.data(), 1, MPI_CHAR, world_.get(), &request));
  wait(request);
  world_ranks_.clear();
  for (int rank = 0; rank < size_of_world_; ++rank) {
    if (all[static_cast<std::size_t>(rank)] != 0) {
      world_ranks_.push_back(rank);
    }
  }
  if (whole()) {
    comm_ = world_.get();
    return;
  }
  auto found = std::find_if(known_.begin(), known_.end(),
                            [&](const Known& known) { return known.world_ranks == world_ranks_; });
  if (found == known_.end()) {
    // All ranks know the same teams, so they forget the same ones together.
    if (known_.size() == kMostKnown) {
      known_.pop_front();
    }
    known_.push_back({world_ranks_, split(world_.get(), member_ ? 0 : -1)});
    found = known_.end() - 1;
  }
  comm_ = found->comm.get();
}

}  // namespace contend::probe
