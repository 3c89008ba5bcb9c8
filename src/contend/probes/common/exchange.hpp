#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace contend::probe {

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

}  // namespace contend::probe
