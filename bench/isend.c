// What an 8-byte MPI_Isend and its share of MPI_Waitall take: to this rank itself, so that nothing
// but the library and what is preloaded counts. Prints nanoseconds per message: the median and the
// least of many batches.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 100, BATCHES = 3000, WARM_UP = 200 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_size(const void* one, const void* other) {
  double first = *(const double*)one, second = *(const double*)other;
  return (first > second) - (first < second);
}

int main(int argc, char** argv) {
  static double took[BATCHES];
  MPI_Request receives[BATCH], sends[BATCH];
  double room[BATCH], number = 1;
  MPI_Init(&argc, &argv);
  for (int batch = -WARM_UP; batch < BATCHES; batch++) {
    for (int index = 0; index < BATCH; index++)
      MPI_Irecv(&room[index], 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &receives[index]);
    double start = now();
    for (int index = 0; index < BATCH; index++)
      MPI_Isend(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &sends[index]);
    MPI_Waitall(BATCH, sends, MPI_STATUSES_IGNORE);
    double end = now();
    MPI_Waitall(BATCH, receives, MPI_STATUSES_IGNORE);
    if (batch >= 0) took[batch] = (end - start) / BATCH;
  }
  qsort(took, BATCHES, sizeof *took, by_size);
  printf("%.2f %.2f\n", took[BATCHES / 2], took[0]);
  return MPI_Finalize();
}
