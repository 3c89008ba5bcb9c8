#include "common/ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

// The one thing that a message needs from anywhere in the program.
std::string& stored_name() {
  static std::string name = "contend-probe";
  return name;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 &&
         MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

}  // namespace

void name_program(const std::string& name) { stored_name() = name; }

const std::string& program_name() { return stored_name(); }

void fail(const std::string& message, int status) {
  std::string line = program_name() + ": ";
  const bool runs = mpi_runs();
  int rank = 0;
  if (runs && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS) {
    line += "rank " + std::to_string(rank) + ": ";
  }
  std::string told = message;
  std::replace(told.begin(), told.end(), '\n', ' ');
  line += told + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  if (runs) {
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  // MPI_Abort may return where a launcher has to be asked first; exit handlers could then wait.
  std::_Exit(status);
}

std::string error_text(int code) {
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, words, &length) != MPI_SUCCESS || length == 0) {
    return "code " + std::to_string(code);
  }
  return words;
}

void check(const char* call, int code) {
  if (code != MPI_SUCCESS) {
    fail(std::string(call) + " failed: " + error_text(code));
  }
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  CHECKED(MPI_Comm_rank, comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  CHECKED(MPI_Comm_size, comm, &size);
  return size;
}

namespace {

constexpr int kTag = 1;

}  // namespace

std::vector<std::string> gather_everywhere(const std::string& text, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  CHECKED(MPI_Allgather, &length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm);
  std::vector<int> places;
  int total = 0;
  for (const int one : lengths) {
    places.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  CHECKED(MPI_Allgatherv, text.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(),
          MPI_CHAR, comm);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(places[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

std::string broadcast(const std::string& text, MPI_Comm comm) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  CHECKED(MPI_Bcast, &length, 1, MPI_INT64_T, 0, comm);
  std::string copy = text;
  copy.resize(static_cast<std::size_t>(length));
  CHECKED(MPI_Bcast, copy.data(), static_cast<int>(length), MPI_CHAR, 0, comm);
  return copy;
}

void broadcast(std::vector<double>& values, MPI_Comm comm) {
  const int count = static_cast<int>(values.size());
  if (!crowded()) {
    CHECKED(MPI_Bcast, values.data(), count, MPI_DOUBLE, 0, comm);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibcast, values.data(), count, MPI_DOUBLE, 0, comm, &request);
  wait(request);
}

void gather(const std::vector<double>& mine, std::vector<double>& all, MPI_Comm comm) {
  const int count = static_cast<int>(mine.size());
  if (rank_in(comm) == 0) {
    all.resize(mine.size() * static_cast<std::size_t>(size_of(comm)));
  }
  if (!crowded()) {
    CHECKED(MPI_Gather, mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Igather, mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, comm,
          &request);
  wait(request);
}

std::string send_to_first(const std::string& text, int from, MPI_Comm comm) {
  const int rank = rank_in(comm);
  if (from == 0) {
    return rank == 0 ? text : "";
  }
  if (rank == from) {
    CHECKED(MPI_Send, text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, comm);
  }
  if (rank != 0) {
    return "";
  }
  MPI_Status status;
  CHECKED(MPI_Probe, from, kTag, comm, &status);
  int length = 0;
  CHECKED(MPI_Get_count, &status, MPI_CHAR, &length);
  std::string told(static_cast<std::size_t>(length), '\0');
  CHECKED(MPI_Recv, told.data(), length, MPI_CHAR, from, kTag, comm, MPI_STATUS_IGNORE);
  return told;
}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    free();
    comm_ = other.comm_;
    other.comm_ = MPI_COMM_NULL;
  }
  return *this;
}

void Communicator::free() noexcept {
  if (comm_ != MPI_COMM_NULL) {
    MPI_Comm_free(&comm_);
  }
}

Communicator split(MPI_Comm comm, int colour) {
  MPI_Comm made = MPI_COMM_NULL;
  CHECKED(MPI_Comm_split, comm, colour < 0 ? MPI_UNDEFINED : colour, rank_in(comm), &made);
  return Communicator(made);
}

Communicator duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  CHECKED(MPI_Comm_dup, comm, &made);
  return Communicator(made);
}

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
  CHECKED(MPI_Iallgather, &joins, 1, MPI_CHAR, all.data(), 1, MPI_CHAR, world_.get(), &request);
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
