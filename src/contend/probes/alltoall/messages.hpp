#pragma once

#include <mpi.h>
#include <cstdint>
#include <vector>

#include "alltoall/blocks.hpp"
#include "common/random.hpp"

namespace contend::probe::alltoall {

/// Numbers for different uses that have nothing to do with each other.
enum class Use : std::uint64_t { count = 0x6a09e667f3bcc908, data = 0xbb67ae8584caa73b };

/// 64 random bits that depend on a pair of ranks, on which of the two sends, and on their use.
[[nodiscard]] inline std::uint64_t pair_bits(int source, int destination, Use use) {
  const auto from = static_cast<std::uint64_t>(static_cast<std::uint32_t>(source));
  const auto to = static_cast<std::uint64_t>(static_cast<std::uint32_t>(destination));
  return Random(((from << 32U) | to) ^ static_cast<std::uint64_t>(use)).next();
}

/// Every message of an all-to-all has this tag: there is one at most between two ranks at a time,
/// or several that are received in the order in which they are sent.
inline constexpr int kTag = 0;

/// Messages under way. Blocks without bytes are left out on both sides.
class Messages {
 public:
  /// Room for as many at a time.
  explicit Messages(std::size_t most) { requests_.reserve(most); }

  void receive(const Blocks& blocks, int source);
  void send(const Blocks& blocks, int destination);
  void add(MPI_Request request) { requests_.push_back(request); }
  /// Waits for all of them.
  void finish();

 private:
  std::vector<MPI_Request> requests_;
};

/// MPI_Sendrecv of two blocks. Blocks without bytes are left out on both sides.
void send_and_receive(const Blocks& blocks, int destination, int source);

/// Barriers, and how long this rank spent in them. The time contains waiting for slower ranks: the
/// least over the ranks is nearest to what the barriers themselves cost.
class Barriers {
 public:
  explicit Barriers(MPI_Comm comm) : comm_(comm) {}

  void pass();
  /// Seconds since the last time that this was asked.
  [[nodiscard]] double take();

 private:
  MPI_Comm comm_;
  std::int64_t spent_ns_ = 0;
};

/// The name of the column for Barriers::take().
inline constexpr const char* kBarriersColumn = "barriers_s";

}  // namespace contend::probe::alltoall
