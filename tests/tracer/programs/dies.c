// Ends by a fault of rank 1, as the first argument says: in a call, or between two.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// From outside, by a child.
static void be_killed(void) {
  pid_t whom = getpid();
  if (fork() == 0) _exit(kill(whom, SIGKILL));
  pause();
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  int rank, number = 1, several[8] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "survives") == 0) {
    // An error that the program handles is no end.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&number, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (strcmp(how, "truncates") == 0) {
    if (rank == 0) MPI_Send(several, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "amounts") == 0) MPI_Bcast(several, rank ? 4 : 8, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    if (strcmp(how, "peer") == 0) MPI_Send(&number, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);
    if (strcmp(how, "fault") == 0) *(volatile int*)8 = 1;
    if (strcmp(how, "divides") == 0) raise(SIGFPE);
    if (strcmp(how, "aborts") == 0) abort();
    if (strcmp(how, "exits") == 0) exit(3);
    if (strcmp(how, "leaves") == 0) exit(0);
    if (strcmp(how, "killed") == 0) be_killed();
    if (strcmp(how, "bus") == 0) raise(SIGBUS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
