#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/pages.hpp"

namespace contend::probe {

/// Packets that a rank sends to one rank while it receives as many from another.
///
/// A few are under way at a time, so that the line never idles between two. The sends read one
/// buffer; the receives go round a ring of slots.
class Transfer {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Transfer(std::int64_t bytes, std::int64_t packets, MPI_Comm comm);

  /// Sets the ranks at the other ends, -1 for none, and wipes the slots when they are looked at.
  void prepare(int destination, int source, bool verified);
  /// Sends and receives all packets. Ends when all that was to come is here.
  void receive_all();
  /// Waits until all own packets are on their way; after receive_all().
  void finish_sending();
  /// What is wrong with the packets that came last; nothing when they are right.
  [[nodiscard]] std::optional<std::string> verify() const;

 private:
  void post(std::size_t slot);

  std::int64_t bytes_;
  std::int64_t packets_;
  MPI_Comm comm_;
  int rank_;
  int destination_ = -1;
  int source_ = -1;
  Pages<std::byte> sent_;
  Pages<std::byte> received_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

}  // namespace contend::probe
