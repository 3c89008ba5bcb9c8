#pragma once

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <vector>

// MPI before version 4 counts in int, so more than 2^31 - 1 bytes go as elements of a wider
// datatype there. What fits an int is passed alike everywhere. A test sets a smaller limit, to have
// all of this at sizes that fit its machine.
#ifndef CONTEND_LARGEST_COUNT
#define CONTEND_LARGEST_COUNT INT_MAX
#endif

namespace contend::probe {

/// The most elements that one call is given as an int.
constexpr std::size_t kLargestCount = CONTEND_LARGEST_COUNT;

/// Bytes in memory as one MPI datatype, freed with its last use.
class BytesType {
 public:
  /// No datatype.
  BytesType() = default;
  /// A block of any size; its extent is as many bytes.
  explicit BytesType(std::size_t bytes);
  BytesType(const BytesType&) = delete;
  BytesType& operator=(const BytesType&) = delete;
  BytesType(BytesType&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  BytesType& operator=(BytesType&& other) noexcept;
  ~BytesType();

  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// MPI_Isend of any number of bytes.
[[nodiscard]] MPI_Request send_bytes(const void* data, std::size_t bytes, int to, int tag,
                                     MPI_Comm comm);

/// MPI_Irecv of any number of bytes.
[[nodiscard]] MPI_Request receive_bytes(void* data, std::size_t bytes, int from, int tag,
                                        MPI_Comm comm);

/// A message of any number of bytes to one rank and one from another: MPI_Sendrecv. Either may be
/// MPI_PROC_NULL. Where ranks share processors it waits as wait_all() does.
void send_and_receive_bytes(const void* out, std::size_t out_bytes, int to, void* in,
                            std::size_t in_bytes, int from, int tag, MPI_Comm comm);

/// MPI_Put of any number of bytes to a place in a window whose unit is the byte: in pieces that an
/// int counts, as MPICH 4.0's MPI_Put_c of more than 2^31 bytes crashes.
void put_bytes(const void* data, std::size_t bytes, int to, MPI_Aint place, MPI_Win window);

}  // namespace contend::probe
