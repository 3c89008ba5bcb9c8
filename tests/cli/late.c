// A ring in which rank 1 is late for every collective; the argument says how it ends.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 40, COUNT = 1000 };

static void pass_on(double *numbers, int rank, int size) {
  MPI_Sendrecv(numbers, COUNT, MPI_DOUBLE, (rank + 1) % size, 0, numbers + COUNT, COUNT, MPI_DOUBLE,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the exchange
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int rank, size;
  double *numbers = calloc(2 * COUNT, sizeof *numbers), sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < STEPS; step++) {
    pass_on(numbers, rank, size);
    if (rank == 1) usleep(strcmp(how, "much later") ? 5000 : 50000);
    MPI_Allreduce(numbers, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // the collective
    if (step != STEPS / 2) continue;
    if (!strcmp(how, "sleep")) {
      if (rank == 0) puts("asleep"), fflush(stdout);
      sleep(60);
    }
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
