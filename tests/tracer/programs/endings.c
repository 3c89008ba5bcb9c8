// Ends, or does something else that is rare, as its first argument says.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void exchange(int tag) {
  int given = rank, got = -1;
  MPI_Sendrecv(&given, 1, MPI_INT, (rank + 1) % size, tag, &got, 1, MPI_INT,
               (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 9);
}

static void* exchange_often(void* tag) {
  MPI_Request requests[2];
  int given = 1, got;
  for (int turn = 0; turn < 500; turn++) {
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, *(int*)tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&given, 1, MPI_INT, (rank + 1) % size, *(int*)tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

static void in_threads(void) {
  pthread_t threads[3];
  int tags[3] = {1, 2, 3};
  for (int at = 0; at < 3; at++) pthread_create(&threads[at], NULL, exchange_often, &tags[at]);
  for (int at = 0; at < 3; at++) pthread_join(threads[at], NULL);
}

/// Calls from many places on many communicators, of many sizes.
static void overflow(void) {
  static char data[1 << 16];
  for (int turn = 0; turn < 300; turn++) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int bytes = 1; bytes < (1 << 16); bytes *= 4) MPI_Bcast(data, bytes, MPI_BYTE, 0, copy);
    MPI_Comm_free(&copy);
  }
  MPI_Request requests[100];
  for (int at = 0; at < 100; at++)
    MPI_Isend(data, 1, MPI_BYTE, rank, 7, MPI_COMM_WORLD, &requests[at]);
  for (int at = 0; at < 100; at++)
    MPI_Recv(data, 1, MPI_BYTE, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(100, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  const char* what = argv[1];
  int level;
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : 0, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
  if (strcmp(what, "kill") == 0 && rank == 1) raise(SIGKILL);
  if (strcmp(what, "exit") == 0) exit(6);
  if (strcmp(what, "_exit") == 0) _exit(6);
  if (strcmp(what, "quick_exit") == 0) quick_exit(6);
  if (strcmp(what, "abort") == 0 || strcmp(what, "kill") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "threads") == 0) in_threads();
  if (strcmp(what, "overflow") == 0) overflow();
  if (strcmp(what, "vfork") == 0) {
    pid_t child = vfork();
    if (child == 0) _exit(3);
    waitpid(child, NULL, 0);
    exchange(2);
  }
  if (strcmp(what, "fork") == 0 || strcmp(what, "exec") == 0) {
    pid_t child = fork();
    if (child == 0 && strcmp(what, "exec") == 0) execl("/bin/echo", "echo", "child", NULL);
    // A child that leaves by exit(), past all that was registered for that.
    if (child == 0) exit(3);
    waitpid(child, NULL, 0);
    exchange(2);
  }
  // At once: launchers put pieces of several ranks together.
  if (write(1, "done\n", 5) != 5) return 1;
  return MPI_Finalize();
}
