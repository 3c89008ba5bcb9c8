#pragma once

#include <cstddef>
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

}  // namespace contend::probe::alltoall
