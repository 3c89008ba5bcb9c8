/* Small programs with known communication: small MODE BYTES TIMES MICROSECONDS
   (computed between steps). Prints the seconds from the first rank's leaving
   MPI_Init to the last one's reaching MPI_Finalize, by one clock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void compute(double seconds) {
  struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (long)seconds))};
  if (seconds > 0) nanosleep(&t, NULL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double begun = now();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *mode = argv[1];
  int bytes = atoi(argv[2]), times = atoi(argv[3]);
  double pause = 1e-6 * atoi(argv[4]);
  size_t all = (size_t)bytes * ranks + 8;
  char *out = calloc(all, 1), *in = calloc(4 * all, 1);
  int next = (rank + 1) % ranks, half = (rank + ranks / 2) % ranks;
  int last = (rank + ranks - 1) % ranks;
  int wide = 1;
  while (wide * wide < ranks) wide *= 2;
  for (int i = 0; i < times; i++) {
    compute(pause);
    if (!strcmp(mode, "alltoall"))
      MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else if (!strcmp(mode, "ring"))
      MPI_Sendrecv(out, bytes, MPI_BYTE, next, 0, in, bytes, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (!strcmp(mode, "cross")) { /* one way, from each rank of the lower half */
      if (rank < ranks / 2) MPI_Send(out, bytes, MPI_BYTE, half, 0, MPI_COMM_WORLD);
      else MPI_Recv(in, bytes, MPI_BYTE, half, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(mode, "allreduce"))
      MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(mode, "bcast"))
      MPI_Bcast(out, bytes, MPI_BYTE, i % ranks, MPI_COMM_WORLD);
    else if (!strcmp(mode, "gather"))
      MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (!strcmp(mode, "halo")) { /* two dimensions, periodic */
      int x = rank % wide, y = rank / wide, tall = ranks / wide;
      int to[4] = {y * wide + (x + 1) % wide, y * wide + (x + wide - 1) % wide,
                   (y + 1) % tall * wide + x, (y + tall - 1) % tall * wide + x};
      MPI_Request request[8];
      for (int d = 0; d < 4; d++)
        MPI_Irecv(in + (size_t)d * bytes, bytes, MPI_BYTE, to[d], d ^ 1, MPI_COMM_WORLD, request + d);
      for (int d = 0; d < 4; d++)
        MPI_Isend(out, bytes, MPI_BYTE, to[d], d, MPI_COMM_WORLD, request + 4 + d);
      MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    }
  }
  double ended = now(), first, end;
  MPI_Reduce(&begun, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&ended, &end, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("took %.6f\n", end - first);
  MPI_Finalize();
  return 0;
}
