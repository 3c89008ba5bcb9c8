#pragma once

#include <mpi.h>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace contend::probe::alltoall {

/// How many bytes every rank sends to every other one.
class Counts {
 public:
  enum class Kind {
    even,    ///< all pairs alike
    uneven,  ///< drawn for each pair
    own      ///< each rank is told its own
  };

  /// `bytes` for every pair; or, uneven, a number from 0 to twice as many that depends on the pair
  /// alone: for every eighth pair nothing, for every eighth the most, uniform in between, so that
  /// the mean stays near `bytes`.
  Counts(Kind kind, std::size_t bytes, int ranks);
  /// What one rank sends to, and gets from, every rank.
  Counts(int rank, std::vector<std::size_t> to, std::vector<std::size_t> from);

  /// Ends the program for own counts of two other ranks.
  [[nodiscard]] std::size_t of(int source, int destination) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Bytes for each destination, on the mean; of what this rank sends, where it knows its own only.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Kind kind_;
  std::size_t bytes_;
  // Uneven counts are multiples of this: one byte, until a rank's bytes pass 2^31. MPI before
  // version 4 can only count more in a wider unit.
  std::size_t unit_ = 1;
  // Own counts, and whose.
  int rank_ = 0;
  std::vector<std::size_t> to_;
  std::vector<std::size_t> from_;
};

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

/// Known bytes: each depends on who sends it, to whom, and on its position in the block.

/// Writes a block as its source sends it.
void fill_block(std::byte* block, std::size_t bytes, int source, int destination);

/// Writes a block that is wrong in every byte.
void poison_block(std::byte* block, std::size_t bytes, int source, int destination);

/// The first position in a block where it is not as its source sent it.
[[nodiscard]] std::optional<std::size_t> first_wrong(const std::byte* block, std::size_t bytes,
                                                     int source, int destination);

/// Fills what lies beside a buffer, where nobody may write.
void fill_guard(std::byte* guard, std::size_t bytes);

/// The first position where somebody wrote beside a buffer.
[[nodiscard]] std::optional<std::size_t> first_touched(const std::byte* guard, std::size_t bytes);

/// A send and a receive buffer for all cells, so that memory is taken, and its pages are touched,
/// once.
class Buffers {
 public:
  /// Notes, before the first cell, what one will exchange. All ranks plan the same.
  void plan(const Counts& counts);

  /// Gives blocks their places. The first time the buffers are made, for the largest cell of those
  /// planned that all ranks have the memory for. Collective; throws std::bad_alloc, on all ranks,
  /// for cells that are larger.
  void hold(Blocks& blocks);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Needs {
    std::size_t send;
    std::size_t receive;
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  [[nodiscard]] static Memory take(std::size_t bytes);
  void make(MPI_Comm comm);

  std::vector<Counts> planned_;
  Memory send_;
  Memory receive_;
  Needs held_{0, 0};
  bool made_ = false;
};

}  // namespace contend::probe::alltoall
