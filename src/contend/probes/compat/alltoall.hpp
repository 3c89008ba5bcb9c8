#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "compat/large_count.hpp"

namespace contend::probe {

/// Whether the library has a persistent all-to-all: MPI 4, or Open MPI's forerunner of it.
[[nodiscard]] bool has_persistent_alltoall();

/// The library's all-to-all of equally many bytes from every rank to every rank, of any size.
class EqualAlltoall {
 public:
  explicit EqualAlltoall(std::size_t bytes);

  /// MPI_Alltoall.
  void call(const void* out, void* in, MPI_Comm comm) const;
  /// MPI_Ialltoall.
  [[nodiscard]] MPI_Request begin(const void* out, void* in, MPI_Comm comm) const;
  /// MPI_Alltoall_init; ends the program where has_persistent_alltoall() is false.
  [[nodiscard]] MPI_Request prepare(const void* out, void* in, MPI_Comm comm) const;

 private:
  std::size_t bytes_;
  // One element of a datatype as wide as the block, unless the bytes themselves can be counted.
  BytesType block_;
};

/// One side of an MPI_Alltoallv: bytes for (or from) every rank, and where they begin.
struct Side {
  std::vector<std::size_t> bytes;
  std::vector<std::size_t> begin;
};

/// The library's all-to-all of any bytes from every rank to every rank.
///
/// From MPI 4 on always the call with 64-bit counts, so that all ranks make the same one. Before,
/// what passes 2^31 bytes is counted in the greatest unit that divides every count and beginning.
class UnequalAlltoall {
 public:
  UnequalAlltoall(const Side& out, const Side& in);

  /// Whether this library can count these bytes; ranks may differ.
  [[nodiscard]] bool possible() const { return out_.possible && in_.possible; }

  /// MPI_Alltoallv.
  void call(const void* out, void* in, MPI_Comm comm) const;
  /// MPI_Ialltoallv. This object must live until the request has ended.
  [[nodiscard]] MPI_Request begin(const void* out, void* in, MPI_Comm comm) const;

 private:
#if MPI_VERSION >= 4
  using Count = MPI_Count;
  using Place = MPI_Aint;
#else
  using Count = int;
  using Place = int;
#endif

  struct Arguments {
    explicit Arguments(const Side& side);

    [[nodiscard]] MPI_Datatype type() const;

    bool possible = true;
    // None where the numbers count bytes.
    BytesType unit;
    std::vector<Count> counts;
    std::vector<Place> places;
  };

  Arguments out_;
  Arguments in_;
};

}  // namespace contend::probe
