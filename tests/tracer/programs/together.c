// What ranks do together goes wrong if only some of them have done anything together before.
#include <mpi.h>
#include <stdio.h>

int main(int count, char** words) {
  MPI_Comm half, all;
  MPI_Request request;
  int rank, size, one = 1, sum = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Barrier(all);
  if (rank == 0) printf("%d of %d\n", sum, size);
  return MPI_Finalize();
}
