// More than the record has room for: communicators and sizes without end, two ranks. Prints the
// calls that it made.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  static char data[1 << 13], others[1 << 13];
  int rank, steps = atoi(argv[2]), calls = 0;
  long bytes = 0;
  MPI_Comm made;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "alike") == 0) {
    for (int step = 0; step < steps; step++, calls++, bytes += 8) {
      MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
      MPI_Allreduce(data, others, 1, MPI_DOUBLE, MPI_SUM, made);
      MPI_Comm_free(&made);
    }
  } else {
    // Of each communicator the topology is another one.
    for (int step = 0; step < steps; step++) {
      int extents[4] = {1, 2, 1, 1}, periods[4] = {0};
      int dimensions = 1 + step % 4;
      extents[0] = dimensions == 1 ? 2 : 1;
      MPI_Cart_create(MPI_COMM_WORLD, dimensions, extents, periods, 0, &made);
      for (int size = 1; size <= 1 << 12; size *= 2, calls++, bytes += size / 2)
        MPI_Allreduce(data, others, size, MPI_BYTE, MPI_BOR, made);
      for (int size = 1; size <= 1 << 12; size *= 2) MPI_Bcast(data, size, MPI_BYTE, 0, made);
      for (int size = 1; size <= 1 << 12; size *= 2)
        MPI_Reduce(data, others, size, MPI_BYTE, MPI_BOR, 0, made);
    }
  }
  if (rank == 0) printf("%d %ld\n", calls, bytes);
  return MPI_Finalize();
}
