// What messages of 8 bytes take, to this rank itself, so that nothing but the library and what is
// preloaded counts. Prints a line for each way of sending: nanoseconds, the median and the least of
// many batches.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 100, BATCHES = 3000, WARM_UP = 200 };

static double room[BATCH], number = 1;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_size(const void* one, const void* other) {
  double first = *(const double*)one, second = *(const double*)other;
  return (first > second) - (first < second);
}

/// Of an MPI_Isend and its share of MPI_Waitall.
static double send(void) {
  MPI_Request receives[BATCH], sends[BATCH];
  for (int index = 0; index < BATCH; index++)
    MPI_Irecv(&room[index], 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &receives[index]);
  double start = now();
  for (int index = 0; index < BATCH; index++)
    MPI_Isend(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &sends[index]);
  MPI_Waitall(BATCH, sends, MPI_STATUSES_IGNORE);
  double end = now();
  MPI_Waitall(BATCH, receives, MPI_STATUSES_IGNORE);
  return end - start;
}

/// Of an MPI_Irecv, an MPI_Isend and an MPI_Waitall for both.
static double exchange(void) {
  MPI_Request both[2];
  double start = now();
  for (int index = 0; index < BATCH; index++) {
    MPI_Irecv(&room[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &both[0]);
    MPI_Isend(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  return now() - start;
}

/// Of an MPI_Test before which nothing has arrived.
static double test(void) {
  MPI_Request receive;
  int arrived;
  MPI_Irecv(&room[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &receive);
  double start = now();
  for (int index = 0; index < BATCH; index++) MPI_Test(&receive, &arrived, MPI_STATUS_IGNORE);
  double end = now();
  MPI_Send(&number, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  return end - start;
}

int main(int argc, char** argv) {
  static double took[BATCHES];
  static double (*const ways[])(void) = {send, exchange, test};
  MPI_Init(&argc, &argv);
  for (int way = 0; way < 3; way++) {
    for (int batch = -WARM_UP; batch < BATCHES; batch++) {
      double whole = ways[way]();
      if (batch >= 0) took[batch] = whole / BATCH;
    }
    qsort(took, BATCHES, sizeof *took, by_size);
    printf("%.2f %.2f\n", took[BATCHES / 2], took[0]);
  }
  return MPI_Finalize();
}
