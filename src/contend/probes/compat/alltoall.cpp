#include "compat/alltoall.hpp"

#include <algorithm>
#include <numeric>

#include "common/operation.hpp"
#include "common/ranks.hpp"

// Open MPI 4 has persistent collectives under another name, Open MPI 5 under MPI 4's, though both
// say that they are MPI 3.1.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#endif
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define CONTEND_ALLTOALL_INIT MPI_Alltoall_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define CONTEND_ALLTOALL_INIT MPIX_Alltoall_init
#endif

namespace contend::probe {

namespace {

#if MPI_VERSION >= 4
constexpr bool kWideCounts = true;
#else
constexpr bool kWideCounts = false;
#endif

// The greatest number that divides every count and beginning of a side; 1 for none but zeros.
std::size_t common_unit(const Side& side) {
  std::size_t unit = 0;
  for (std::size_t rank = 0; rank < side.bytes.size(); ++rank) {
    unit = std::gcd(unit, std::gcd(side.bytes[rank], side.begin[rank]));
  }
  return std::max<std::size_t>(unit, 1);
}

std::size_t largest(const Side& side) {
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < side.bytes.size(); ++rank) {
    most = std::max({most, side.bytes[rank], side.begin[rank]});
  }
  return most;
}

}  // namespace

bool has_persistent_alltoall() {
#ifdef CONTEND_ALLTOALL_INIT
  return true;
#else
  return false;
#endif
}

EqualAlltoall::EqualAlltoall(std::size_t bytes) : bytes_(bytes) {
  if (bytes > kLargestCount && !kWideCounts) {
    block_ = BytesType(bytes);
  }
}

void EqualAlltoall::call(const void* out, void* in, MPI_Comm comm) const {
  if (bytes_ <= kLargestCount) {
    const int count = static_cast<int>(bytes_);
    check("MPI_Alltoall", MPI_Alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, comm));
    return;
  }
#if MPI_VERSION >= 4
  const auto count = static_cast<MPI_Count>(bytes_);
  check("MPI_Alltoall_c", MPI_Alltoall_c(out, count, MPI_BYTE, in, count, MPI_BYTE, comm));
#else
  check("MPI_Alltoall", MPI_Alltoall(out, 1, block_.get(), in, 1, block_.get(), comm));
#endif
}

MPI_Request EqualAlltoall::begin(const void* out, void* in, MPI_Comm comm) const {
  MPI_Request request = MPI_REQUEST_NULL;
  if (bytes_ <= kLargestCount) {
    const int count = static_cast<int>(bytes_);
    check("MPI_Ialltoall",
          MPI_Ialltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, comm, &request));
    return request;
  }
#if MPI_VERSION >= 4
  const auto count = static_cast<MPI_Count>(bytes_);
  check("MPI_Ialltoall_c",
        MPI_Ialltoall_c(out, count, MPI_BYTE, in, count, MPI_BYTE, comm, &request));
#else
  check("MPI_Ialltoall", MPI_Ialltoall(out, 1, block_.get(), in, 1, block_.get(), comm, &request));
#endif
  return request;
}

MPI_Request EqualAlltoall::prepare(const void* out, void* in, MPI_Comm comm) const {
  MPI_Request request = MPI_REQUEST_NULL;
#ifdef CONTEND_ALLTOALL_INIT
  if (bytes_ <= kLargestCount) {
    const int count = static_cast<int>(bytes_);
    check("MPI_Alltoall_init", CONTEND_ALLTOALL_INIT(out, count, MPI_BYTE, in, count, MPI_BYTE,
                                                     comm, MPI_INFO_NULL, &request));
    return request;
  }
#if MPI_VERSION >= 4
  const auto count = static_cast<MPI_Count>(bytes_);
  check("MPI_Alltoall_init_c", MPI_Alltoall_init_c(out, count, MPI_BYTE, in, count, MPI_BYTE, comm,
                                                   MPI_INFO_NULL, &request));
#else
  check("MPI_Alltoall_init", CONTEND_ALLTOALL_INIT(out, 1, block_.get(), in, 1, block_.get(), comm,
                                                   MPI_INFO_NULL, &request));
#endif
#else
  static_cast<void>(out);
  static_cast<void>(in);
  static_cast<void>(comm);
  fail("this MPI library has no MPI_Alltoall_init");
#endif
  return request;
}

UnequalAlltoall::Arguments::Arguments(const Side& side) {
  std::size_t step = 1;
  if (!kWideCounts && largest(side) > kLargestCount) {
    step = common_unit(side);
    if (largest(side) / step > kLargestCount) {
      throw Unsupported("sizes overflow 32 bits: MPI_Alltoallv of this library cannot count " +
                        std::to_string(largest(side)) + " bytes in units of " +
                        std::to_string(step));
    }
    unit = BytesType(step);
  }
  for (std::size_t rank = 0; rank < side.bytes.size(); ++rank) {
    counts.push_back(static_cast<Count>(side.bytes[rank] / step));
    places.push_back(static_cast<Place>(side.begin[rank] / step));
  }
}

MPI_Datatype UnequalAlltoall::Arguments::type() const {
  return unit.get() == MPI_DATATYPE_NULL ? MPI_BYTE : unit.get();
}

UnequalAlltoall::UnequalAlltoall(const Side& out, const Side& in) : out_(out), in_(in) {}

void UnequalAlltoall::call(const void* out, void* in, MPI_Comm comm) const {
#if MPI_VERSION >= 4
  check("MPI_Alltoallv_c",
        MPI_Alltoallv_c(out, out_.counts.data(), out_.places.data(), out_.type(), in,
                        in_.counts.data(), in_.places.data(), in_.type(), comm));
#else
  check("MPI_Alltoallv", MPI_Alltoallv(out, out_.counts.data(), out_.places.data(), out_.type(), in,
                                       in_.counts.data(), in_.places.data(), in_.type(), comm));
#endif
}

MPI_Request UnequalAlltoall::begin(const void* out, void* in, MPI_Comm comm) const {
  MPI_Request request = MPI_REQUEST_NULL;
#if MPI_VERSION >= 4
  check("MPI_Ialltoallv_c",
        MPI_Ialltoallv_c(out, out_.counts.data(), out_.places.data(), out_.type(), in,
                         in_.counts.data(), in_.places.data(), in_.type(), comm, &request));
#else
  check("MPI_Ialltoallv",
        MPI_Ialltoallv(out, out_.counts.data(), out_.places.data(), out_.type(), in,
                       in_.counts.data(), in_.places.data(), in_.type(), comm, &request));
#endif
  return request;
}

}  // namespace contend::probe
