// What MPI_Alltoall and MPI_Alltoallv of one int of one rank take: with the drop-in all-to-all
// before the library, what a call costs that its rules do not cover. Prints nanoseconds per call,
// the median and the least of many batches, for each of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 200, BATCHES = 3000, WARM_UP = 200 };

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
  int data = 1, room = 0, count = 1, place = 0;
  MPI_Init(&argc, &argv);
  for (int uneven = 0; uneven < 2; uneven++) {
    for (int batch = -WARM_UP; batch < BATCHES; batch++) {
      double start = now();
      for (int index = 0; index < BATCH; index++) {
        if (uneven)
          MPI_Alltoallv(&data, &count, &place, MPI_INT, &room, &count, &place, MPI_INT,
                        MPI_COMM_WORLD);
        else
          MPI_Alltoall(&data, 1, MPI_INT, &room, 1, MPI_INT, MPI_COMM_WORLD);
      }
      double end = now();
      if (batch >= 0) took[batch] = (end - start) / BATCH;
    }
    qsort(took, BATCHES, sizeof *took, by_size);
    printf("%.2f %.2f\n", took[BATCHES / 2], took[0]);
  }
  return MPI_Finalize();
}
