// Waits that the program knows: in each of six parts one rank comes late, on one host, whose clock
// all ranks read. Rank 0 prints for each part the routine that waits, the rank that waits in it,
// the one that it waits for, and the seconds from the one's call to the other's.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BIG = 4 << 20, TAG = 7, PARTS = 6, RANKS = 3 };

static int rank;
static char *given, *got;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// Gives the instants at which this rank did what others wait for, and at which it began to wait.
static void part(int number, int late, double* came, double* waits) {
  MPI_Request two[2];
  MPI_Status statuses[2];
  int done = 0;
  struct timespec pause = {0, 250000000};
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == late)
    while (nanosleep(&pause, &pause)) continue;
  *waits = *came = now();
  switch (number) {
    case 0:
      if (rank == 0)
        MPI_Recv(got, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(given, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
      break;
    case 1:
      if (rank == 0) {
        MPI_Irecv(got, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(got + 8, 8, MPI_CHAR, 2, TAG, MPI_COMM_WORLD, &two[1]);
        *waits = now();
        MPI_Waitall(2, two, statuses);
      } else {
        MPI_Send(given, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
      }
      break;
    case 2:
      if (rank == 1) MPI_Send(given, BIG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
      if (rank == 0) MPI_Recv(got, BIG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Ibarrier(MPI_COMM_WORLD, two);
      *waits = now();
      while (!done) MPI_Test(two, &done, MPI_STATUS_IGNORE);
      break;
    case 4:
      MPI_Ialltoall(given, 8, MPI_CHAR, got, 8, MPI_CHAR, MPI_COMM_WORLD, two);
      *waits = now();
      MPI_Wait(two, MPI_STATUS_IGNORE);
      break;
    case 5:
      while (rank == 0 && !done) MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(given, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
      if (rank == 0) MPI_Recv(got, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
  }
}

int main(int count, char** words) {
  const char* names[PARTS] = {"MPI_Recv", "MPI_Waitall", "MPI_Send",
                              "MPI_Test", "MPI_Wait",    "MPI_Iprobe"};
  double own[PARTS][2], all[RANKS][PARTS][2];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  given = calloc(BIG, 1);
  got = calloc(BIG, 1);
  for (int number = 0; number < PARTS; number++)
    part(number, number != 2, &own[number][0], &own[number][1]);
  MPI_Gather(own, 2 * PARTS, MPI_DOUBLE, all, 2 * PARTS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int number = 0; rank == 0 && number < PARTS; number++) {
    int waits = number == 2, late = !waits;
    printf("%s %d %d %.6f\n", names[number], waits, late,
           all[late][number][0] - all[waits][number][1]);
  }
  MPI_Finalize();
  return 0;
}
