// A nonblocking all-to-all while one rank computes for so many milliseconds, then waits.
#include <mpi.h>
#include <stdlib.h>

int main(int count, char** words) {
  int sent[8] = {0}, received[8], rank;
  MPI_Request request;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Ialltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD, &request);
  double until = MPI_Wtime() + (rank == 1 ? atoi(words[1]) * 1e-3 : 0);
  while (MPI_Wtime() < until) continue;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
