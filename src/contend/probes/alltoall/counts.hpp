#pragma once

#include <cstddef>

namespace contend::probe::alltoall {

/// How many bytes every rank sends to every other one.
class Counts {
 public:
  enum class Kind { even, uneven };

  /// `bytes` for every pair; or, uneven, a number from 0 to twice as many that depends on the pair
  /// alone: for every eighth pair nothing, for every eighth the most, uniform in between, so that
  /// the mean stays near `bytes`.
  Counts(Kind kind, std::size_t bytes, int ranks);

  [[nodiscard]] std::size_t of(int source, int destination) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Bytes for each destination, on the mean.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Kind kind_;
  std::size_t bytes_;
  // Uneven counts are multiples of this: one byte, until a rank's bytes pass 2^31. MPI before
  // version 4 can only count more in a wider unit.
  std::size_t unit_ = 1;
};

}  // namespace contend::probe::alltoall
