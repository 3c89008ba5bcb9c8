// Threads whose requests come and go, so that the library gives the handle of one that has just
// ended to another thread. Each thread's messages have a tag and a size of their own; with itself.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 6, TURNS = 3000 };

static void* exchange(void* argument) {
  int tag = 1 + (int)(intptr_t)argument, count = 10 * tag;
  char given[100] = {0}, got[100];
  MPI_Request receive, send;
  for (int turn = 0; turn < TURNS; turn++) {
    MPI_Irecv(got, sizeof got, MPI_BYTE, 0, tag, MPI_COMM_SELF, &receive);
    MPI_Isend(given, count, MPI_BYTE, 0, tag, MPI_COMM_SELF, &send);
    int done = 0;
    while (turn % 2 && !done) MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
    if (!done) MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Waitall(1, &send, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level;
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level == MPI_THREAD_MULTIPLE) {
    for (intptr_t thread = 0; thread < THREADS; thread++)
      pthread_create(&threads[thread], NULL, exchange, (void*)thread);
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
    printf("%d\n", THREADS * TURNS);
  }
  return MPI_Finalize();
}
