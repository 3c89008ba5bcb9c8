#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "alltoall/counts.hpp"

namespace contend::probe::alltoall {

/// What one rank sends to another. Algorithms leave it as it is.
struct Outgoing {
  const std::byte* data;
  std::size_t bytes;
};

/// Where one rank receives from another.
struct Incoming {
  std::byte* data;
  std::size_t bytes;
};

/// One rank's side of an all-to-all: a block to and from every rank, in the order of ranks without
/// gaps, in two buffers that it does not own.
class Blocks {
 public:
  Blocks(MPI_Comm comm, const Counts& counts);

  /// Where the buffers are, of sent_bytes() and received_bytes() at least.
  void place(std::byte* send, std::byte* receive);

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

  [[nodiscard]] std::byte* send() const { return send_; }
  [[nodiscard]] std::byte* receive() const { return receive_; }
  [[nodiscard]] std::size_t sent_bytes() const { return send_begin_.back(); }
  [[nodiscard]] std::size_t received_bytes() const { return receive_begin_.back(); }

  [[nodiscard]] Outgoing to(int destination) const;
  [[nodiscard]] Incoming from(int source) const;

  /// The rank that is a number of places further, around the end: -p < places < 2 p.
  [[nodiscard]] int shifted(int places) const { return (rank_ + places + ranks_) % ranks_; }

  /// Copies what this rank sends to itself.
  void copy_own() const;

 private:
  MPI_Comm comm_;
  int rank_;
  int ranks_;
  Counts counts_;
  std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  // Where each rank's block begins; one more for the end.
  std::vector<std::size_t> send_begin_;
  std::vector<std::size_t> receive_begin_;
};

}  // namespace contend::probe::alltoall
