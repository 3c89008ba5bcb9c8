#include "compat/large_count.hpp"

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

// A size's whole pieces and its rest; two counts that an int holds, up to 2^61 bytes.
constexpr std::size_t kPiece = kLargestCount / 2 + 1;

bool fits(std::size_t bytes) { return bytes <= kLargestCount; }

void free_type(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL) {
    check("MPI_Type_free", MPI_Type_free(&type));
  }
}

}  // namespace

BytesType::BytesType(std::size_t bytes) {
  if (fits(bytes)) {
    check("MPI_Type_contiguous", MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_));
  } else {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    check("MPI_Type_contiguous", MPI_Type_contiguous(static_cast<int>(kPiece), MPI_BYTE, &piece));
    const std::size_t pieces = bytes / kPiece;
    const int lengths[] = {static_cast<int>(pieces), static_cast<int>(bytes % kPiece)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(pieces * kPiece)};
    const MPI_Datatype types[] = {piece, MPI_BYTE};
    check("MPI_Type_create_struct", MPI_Type_create_struct(2, lengths, places, types, &type_));
    free_type(piece);
  }
  check("MPI_Type_commit", MPI_Type_commit(&type_));
}

BytesType& BytesType::operator=(BytesType&& other) noexcept {
  std::swap(type_, other.type_);
  return *this;
}

BytesType::~BytesType() { free_type(type_); }

MPI_Request send_bytes(const void* data, std::size_t bytes, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (fits(bytes)) {
    const int count = static_cast<int>(bytes);
    check("MPI_Isend", MPI_Isend(data, count, MPI_BYTE, to, tag, comm, &request));
    return request;
  }
#if MPI_VERSION >= 4
  const auto count = static_cast<MPI_Count>(bytes);
  check("MPI_Isend_c", MPI_Isend_c(data, count, MPI_BYTE, to, tag, comm, &request));
#else
  // MPI keeps a datatype that has been freed until its last message has ended.
  const BytesType whole(bytes);
  check("MPI_Isend", MPI_Isend(data, 1, whole.get(), to, tag, comm, &request));
#endif
  return request;
}

MPI_Request receive_bytes(void* data, std::size_t bytes, int from, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (fits(bytes)) {
    const int count = static_cast<int>(bytes);
    check("MPI_Irecv", MPI_Irecv(data, count, MPI_BYTE, from, tag, comm, &request));
    return request;
  }
#if MPI_VERSION >= 4
  const auto count = static_cast<MPI_Count>(bytes);
  check("MPI_Irecv_c", MPI_Irecv_c(data, count, MPI_BYTE, from, tag, comm, &request));
#else
  const BytesType whole(bytes);
  check("MPI_Irecv", MPI_Irecv(data, 1, whole.get(), from, tag, comm, &request));
#endif
  return request;
}

void send_and_receive_bytes(const void* out, std::size_t out_bytes, int to, void* in,
                            std::size_t in_bytes, int from, int tag, MPI_Comm comm) {
  if (crowded() || !fits(out_bytes) || !fits(in_bytes)) {
    MPI_Request requests[] = {receive_bytes(in, in_bytes, from, tag, comm),
                              send_bytes(out, out_bytes, to, tag, comm)};
    wait(requests[0]);
    wait(requests[1]);
    return;
  }
  check("MPI_Sendrecv",
        MPI_Sendrecv(out, static_cast<int>(out_bytes), MPI_BYTE, to, tag, in,
                     static_cast<int>(in_bytes), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
}

void put_bytes(const void* data, std::size_t bytes, int to, MPI_Aint place, MPI_Win window) {
  const auto* next = static_cast<const std::byte*>(data);
  for (std::size_t left = bytes; left != 0;) {
    const std::size_t now = fits(left) ? left : kPiece;
    const int count = static_cast<int>(now);
    check("MPI_Put", MPI_Put(next, count, MPI_BYTE, to, place, count, MPI_BYTE, window));
    next += now;
    place += static_cast<MPI_Aint>(now);
    left -= now;
  }
}

}  // namespace contend::probe
