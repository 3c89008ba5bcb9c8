// Many small messages from rank to rank, then few late ones: rank 0 comes late, so that rank 1
// sends late to rank 2. Arguments: small messages, late ones, and how ranks receive: recv, wait,
// all, coll for barriers in their place, or epoch for windows. Ranks 1 and 2 print their number and
// the seconds that they waited, by one clock of all ranks: from their calls until rank 0 came.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 3, MOST = 1000, SMALL = 1, LATE = 2 };

static double came[MOST], all[RANKS][MOST];

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void receive(const char* how, int from) {
  char two[2];
  MPI_Request requests[2];
  if (strcmp(how, "recv") == 0) {
    MPI_Recv(two, 1, MPI_CHAR, MPI_ANY_SOURCE, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(two, 1, MPI_CHAR, from, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int index = 0; index < 2; index++)
    MPI_Irecv(two + index, 1, MPI_CHAR, from, LATE, MPI_COMM_WORLD, &requests[index]);
  if (strcmp(how, "all") == 0) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
}

static void meet(int rank, MPI_Group all, MPI_Win window) {
  MPI_Group other;
  if (rank) {
    MPI_Group_incl(all, 1, &(int){rank - 1}, &other);
    MPI_Win_start(other, 0, window);
    MPI_Win_complete(window);
  }
  if (rank == RANKS - 1) return;
  MPI_Group_incl(all, 1, &(int){rank + 1}, &other);
  MPI_Win_post(other, 0, window);
  MPI_Win_wait(window);
}

int main(int count, char** words) {
  char one = 0;
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int small = atoi(words[1]), late = atoi(words[2]);
  const char* how = words[3];
  for (int index = 0; index < small; index++) {
    if (rank) MPI_Recv(&one, 1, MPI_CHAR, rank - 1, SMALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < RANKS - 1) MPI_Send(&one, 1, MPI_CHAR, rank + 1, SMALL, MPI_COMM_WORLD);
  }
  MPI_Win window;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Win_create(&one, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int index = 0; index < late; index++) {
    struct timespec pause = {0, 20000000};
    if (rank == 0)
      while (nanosleep(&pause, &pause)) continue;
    came[index] = now();
    if (strcmp(how, "coll") == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      continue;
    }
    if (strcmp(how, "epoch") == 0) {
      meet(rank, group, window);
      continue;
    }
    if (rank) receive(how, rank - 1);
    for (int two = 0; rank < RANKS - 1 && two < 2; two++)
      MPI_Send(&one, 1, MPI_CHAR, rank + 1, LATE, MPI_COMM_WORLD);
  }
  MPI_Gather(came, MOST, MPI_DOUBLE, all, MOST, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int other = 1; rank == 0 && other < RANKS; other++) {
    double waited = 0;
    for (int index = 0; index < late; index++) {
      double own = all[other][index], first = came[index];
      waited += first > own ? first - own : 0;
    }
    printf("%d %.6f\n", other, waited);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
