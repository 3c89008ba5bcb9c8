#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/pages.hpp"

namespace contend::probe {

/// A stream of large messages from one rank to another, which lasts until it is told to stop.
class Load {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Load(std::int64_t bytes, MPI_Comm comm);

  /// Sends message after message to a rank until `stopper` says so with an empty message.
  void send_to(int receiver, int stopper);
  /// Receives what send_to() sends, to the last message.
  void receive_from(int sender);

  /// Tells a rank in send_to() to stop.
  static void stop(int sender, MPI_Comm comm);

 private:
  std::int64_t bytes_;
  MPI_Comm comm_;
  Pages<std::byte> buffer_;
};

}  // namespace contend::probe
