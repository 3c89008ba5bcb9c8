// MPI calls that go wrong in one way each, put before the library's own by MPI's profiling
// interface. FAULT names the way.

#include <mpi.h>

#include <cstring>
#include <vector>

#define FLIP 1
#define BEYOND 2
#define SENDER 3
#define NOTHING 4

extern "C" {

#if FAULT == FLIP
// One bit of the last byte changes on the way. The copies stay, as the library may still read them.
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  static std::vector<std::vector<char>> copies;
  const char* bytes = static_cast<const char*>(data);
  copies.emplace_back(bytes, bytes + count);
  copies.back().back() ^= 1;
  return PMPI_Isend(copies.back().data(), count, type, to, tag, comm, request);
}
#endif

#if FAULT == BEYOND
// A byte too much is written behind what is received.
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  static_cast<char*>(data)[count] = 0;
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}
#endif

#if FAULT == SENDER
// What is sent arrives, but does not stay as it was.
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  static std::vector<std::vector<char>> copies;
  char* bytes = static_cast<char*>(const_cast<void*>(data));
  copies.emplace_back(bytes, bytes + count);
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  return PMPI_Isend(copies.back().data(), count, type, to, tag, comm, request);
}
#endif

#if FAULT == NOTHING
// Nothing is exchanged: what was right before would stay so.
int MPI_Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return MPI_SUCCESS;
}
#endif

}  // extern "C"
