// Programs that hit one limit each, told by the first argument; `alltoall` and `shift` take bytes
// and a number of steps. Built and profiled by explain_cases.py.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void compute(double seconds) {
  for (double end = now() + seconds; now() < end;) continue;
}

static void alltoall(int size, int bytes, int times) {
  char *out = calloc((size_t)size, (size_t)bytes), *in = calloc((size_t)size, (size_t)bytes);
  for (int step = 0; step < times; step++)
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
  free(out), free(in);
}

/// With an odd number of ranks no two of them send to each other in one step.
static void shift(int rank, int size, int bytes, int times) {
  char *out = calloc(1, (size_t)bytes), *in = calloc(1, (size_t)bytes);
  for (int step = 0; step < times; step++) {
    int by = 1 + step % (size - 1);
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + by) % size, 0, in, bytes, MPI_CHAR,
                 (rank + size - by) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(out), free(in);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int rank, size;
  double number = 0, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int bytes = argc > 3 ? atoi(argv[2]) : 0, steps = argc > 3 ? atoi(argv[3]) : 50;
  if (!strcmp(what, "alltoall")) {
    alltoall(size, bytes, steps);
  } else if (!strcmp(what, "shift")) {
    shift(rank, size, bytes, steps);
  } else {
    double late = !strcmp(what, "imbalance") && rank == 1 ? 0.04 : 0.01;
    for (int step = 0; step < steps; step++) {
      compute(late);
      MPI_Allreduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
