// A send in partitions of which the last is never marked as ready: rank 0 waits for itself.
#include <mpi.h>

int main(int argc, char** argv) {
  static double data[4];
  MPI_Request request;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Psend_init(data, 4, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 2, request);
  } else {
    MPI_Precv_init(data, 4, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
