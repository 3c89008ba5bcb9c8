#pragma once

#include <mpi.h>
#include <deque>
#include <string>
#include <vector>

namespace contend::probe {

/// Says once, at the start, how the probe calls itself in what it prints: "contend-pingpong".
void name_program(const std::string& name);
/// What name_program() was told.
[[nodiscard]] const std::string& program_name();

/// Ends every rank with one line on standard error, "contend-PROBE: rank R: MESSAGE", and a status.
[[noreturn]] void fail(const std::string& message, int status = 1);

/// The library's own words for a code of failure.
[[nodiscard]] std::string error_text(int code);

/// Ends every rank when an MPI call failed, with the library's own words for its code.
///
/// Every MPI call of a probe goes through here: CHECKED(MPI_Bcast, data, ...).
void check(const char* call, int code);
#define CHECKED(routine, ...) ::contend::probe::check(#routine, routine(__VA_ARGS__))

/// This process's rank among the ranks of a communicator.
[[nodiscard]] int rank_in(MPI_Comm comm);
/// How many ranks a communicator has.
[[nodiscard]] int size_of(MPI_Comm comm);

/// The texts of all ranks, on every rank. Collective.
[[nodiscard]] std::vector<std::string> gather_everywhere(const std::string& text, MPI_Comm comm);

/// Rank 0's text, on every rank. Collective.
[[nodiscard]] std::string broadcast(const std::string& text, MPI_Comm comm);

/// Rank 0's numbers, on every rank; all ranks give as many. Collective.
void broadcast(std::vector<double>& values, MPI_Comm comm);

/// Gathers as many numbers from every rank to rank 0, rank after rank; `all` is resized there.
void gather(const std::vector<double>& mine, std::vector<double>& all, MPI_Comm comm);

/// The text of one rank, on rank 0; empty elsewhere. Collective over those two only.
[[nodiscard]] std::string send_to_first(const std::string& text, int from, MPI_Comm comm);

/// A communicator that is freed with its last use, unless it came from elsewhere.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm owned) : comm_(owned) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&& other) noexcept : comm_(other.comm_) { other.comm_ = MPI_COMM_NULL; }
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator() { free(); }

  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  void free() noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The ranks of the same colour, in their old order; none for a negative colour. Collective.
[[nodiscard]] Communicator split(MPI_Comm comm, int colour);
/// The same ranks with messages of their own. Collective.
[[nodiscard]] Communicator duplicate(MPI_Comm comm);

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
