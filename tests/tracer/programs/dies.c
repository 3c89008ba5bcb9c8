// Ends by a fault of rank 1, as the first argument says: in a call, or between two.
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int number = 1;

static void watch_out(void) {
  const struct itimerval soon = {.it_value.tv_usec = 1000};
  setitimer(ITIMER_REAL, &soon, NULL);
  while (number) number++;
}

/// From outside, by a child.
static void be_killed(void) {
  pid_t whom = getpid();
  if (fork() == 0) _exit(kill(whom, SIGKILL));
  pause();
}

static void descend(volatile int* above) {
  volatile int here[1024] = {*above};
  descend(here);
  here[0]++;
}

static void copy(void* to, size_t bytes) {
  memcpy(to, &bytes, bytes);  // copies
}

static void release_twice(void) {
  static void* volatile block;
  block = malloc(100);
  free(block);
  free(block);  // frees
}

static void write_to_nobody(void) {
  int ends[2];
  pipe(ends);
  close(ends[0]);
  write(ends[1], ends, 1);  // pipes
}

static void jump(void (*function)(void)) {
  function();  // jumps
  number++;
}

/// More than any table of sizes has room for.
static void use_many_types(void) {
  int items[64] = {0};
  for (int index = 0; index < 16384; index++) {
    MPI_Datatype type;
    MPI_Type_contiguous(1 + index % 64, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send(items, 1, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Bcast(items, 1, type, 0, MPI_COMM_SELF);
  }
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  int rank, one = 1, several[8] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "survives") == 0) {
    // An error that the program handles is no end.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&one, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (strcmp(how, "truncates") == 0) {
    if (rank == 0) MPI_Send(several, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(how, "crowds") == 0) use_many_types();
  if (strcmp(how, "amounts") == 0 || strcmp(how, "crowds") == 0)
    MPI_Bcast(several, rank ? 4 : 8, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    if (strcmp(how, "peer") == 0) MPI_Send(&one, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);  // peer
    if (strcmp(how, "fault") == 0) *(volatile int*)8 = 1;                             // fault
    if (strcmp(how, "divides") == 0) one /= number - 1;                               // divides
    if (strcmp(how, "aborts") == 0) abort();                                          // aborts
    if (strcmp(how, "limits") == 0) raise(SIGXCPU);                                   // limits
    if (strcmp(how, "terminates") == 0) kill(getpid(), SIGTERM);                      // terminates
    if (strcmp(how, "alarms") == 0) watch_out();
    if (strcmp(how, "pipes") == 0) write_to_nobody();
    if (strcmp(how, "copies") == 0) copy((void*)8, 4 + (size_t)number);
    if (strcmp(how, "frees") == 0) release_twice();
    if (strcmp(how, "jumps") == 0) jump((void (*)(void))(uintptr_t)(number - 1));
    if (strcmp(how, "descends") == 0) descend(&number);
    if (strcmp(how, "exits") == 0) exit(3);
    if (strcmp(how, "leaves") == 0) exit(0);
    if (strcmp(how, "killed") == 0) be_killed();
    if (strcmp(how, "bus") == 0) raise(SIGBUS);  // bus
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
