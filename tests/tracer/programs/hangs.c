// Programs that hang, each in another way: the first argument says in which. They last until they
// are killed.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, number = 1, other;
static char large[1 << 20], greatest[1 << 20];

static int is(const char* mode, const char* name) { return strcmp(mode, name) == 0; }

static void receive(int from, int tag) {
  MPI_Recv(&other, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void window(int waits) {
  MPI_Win win;
  MPI_Group all, others;
  int one = 1 - rank;
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (waits) {
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &others);
    if (rank == 0) MPI_Win_post(others, 0, win);
    if (rank == 0) MPI_Win_wait(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Epochs of a window that end nowhere, or that another call of all ranks is in the way of.
static void epochs(const char* mode) {
  MPI_Win win;
  MPI_Group all, others;
  MPI_Request request;
  static int room[2];
  int one = 1 - rank, alone = rank == 1 || is(mode, "locks");
  MPI_Win_create(room, sizeof room, sizeof *room, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &one, &others);
  if (is(mode, "fence") && rank == 0) MPI_Win_fence(0, win);
  if (is(mode, "free") && rank == 0) MPI_Win_free(&win);
  if (is(mode, "unposted") && rank == 0) {
    MPI_Win_start(others, 0, win);
    MPI_Put(&number, 1, MPI_INT, one, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
  }
  if (is(mode, "incomplete") && rank == 0) {
    MPI_Win_post(others, 0, win);
    MPI_Win_wait(win);
  }
  if (is(mode, "incomplete") && rank == 1) {
    MPI_Win_start(others, 0, win);
    MPI_Put(&number, 1, MPI_INT, one, 0, 1, MPI_INT, win);
  }
  if (strncmp(mode, "lock", 4) == 0) {
    // What is flushed has its lock.
    if (alone) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    if (alone) MPI_Put(&number, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
    if (alone) MPI_Win_flush(rank, win);
    MPI_Sendrecv(&number, 1, MPI_INT, one, 3, &other, 1, MPI_INT, one, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 1 && !is(mode, "locks")) return;
    if (is(mode, "lock-all"))
      MPI_Win_lock_all(0, win);
    else
      MPI_Win_lock(MPI_LOCK_SHARED, one, 0, win);
    if (is(mode, "lock-request")) {
      MPI_Rput(&number, 1, MPI_INT, one, 0, 1, MPI_INT, win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Put(&number, 1, MPI_INT, one, 1, 1, MPI_INT, win);
    MPI_Win_flush(one, win);
  }
}

// Another value is looked for in a window until it is there.
static void poll(const char* how) {
  MPI_Win win;
  MPI_Request request;
  int* own;
  MPI_Win_allocate(sizeof number, sizeof number, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
  *own = other = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) return;
  if (!is(how, "locks")) MPI_Win_lock_all(0, win);
  while (other == 0) {
    if (is(how, "locks")) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (is(how, "fetch") || is(how, "sleeps"))
      MPI_Fetch_and_op(&number, &other, MPI_INT, 1, 0, MPI_NO_OP, win);
    if (is(how, "locks")) MPI_Get(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    if (is(how, "request")) MPI_Rget(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request);
    if (is(how, "request")) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (is(how, "fetch") || is(how, "sleeps")) MPI_Win_flush(1, win);
    if (is(how, "locks")) MPI_Win_unlock(1, win);
    if (is(how, "memory")) MPI_Win_sync(win);
    if (is(how, "sleeps")) usleep(500);
  }
}

// Of what is buffered rank 1 receives the first message.
static void detach(void) {
  MPI_Request request;
  int size = 4 * (sizeof large + MPI_BSEND_OVERHEAD);
  void* buffer = malloc(size);
  MPI_Buffer_attach(buffer, size);
  if (rank == 1) MPI_Recv(large, sizeof large, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) return;
  MPI_Bsend(large, sizeof large, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
  MPI_Ibsend(large, sizeof large, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bsend_init(large, sizeof large, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&buffer, &size);
}

#if MPI_VERSION >= 4 || defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5
// A send to rank 1, which it receives, and a receive of what it does not send.
static void exchange(void) {
  MPI_Request request;
  if (rank == 1) receive(0, 4);
  if (rank == 1) return;
  MPI_Isendrecv(&number, 1, MPI_INT, 1, 4, &other, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#else
static void exchange(void) {}
#endif

static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  return MPI_SUCCESS;
}
static int release(void* state) { return MPI_SUCCESS; }
static int cancel(void* state, int complete) { return MPI_SUCCESS; }

// A receive, or something that the program itself may say to be complete.
static void either(void) {
  MPI_Request two[2];
  int which;
  MPI_Irecv(&other, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &two[0]);
  MPI_Grequest_start(query, release, cancel, NULL, &two[1]);
  MPI_Waitany(2, two, &which, MPI_STATUS_IGNORE);
}

// A question is asked until it is answered, in the same breath or with pauses.
static void ask(const char* how) {
  MPI_Request request;
  MPI_Message message;
  int pauses = is(how, "tests"), which;
  MPI_Status status;
  int there = 0;
  MPI_Irecv(&other, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
  while (!there) {
    if (pauses) MPI_Test(&request, &there, &status);
    if (is(how, "polls")) MPI_Iprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &there, &status);
    if (is(how, "tests-any")) MPI_Testany(1, &request, &which, &there, &status);
    if (is(how, "tests-status")) MPI_Request_get_status(request, &there, &status);
    if (is(how, "polls-matched")) MPI_Improbe(1, 4, MPI_COMM_WORLD, &there, &message, &status);
    if (pauses) usleep(500);
  }
}

// Rank 0 opens a file, or rank 1 sets the size of one that both have opened; the other does not.
static void file(const char* what) {
  MPI_File both;
  char name[4096];
  snprintf(name, sizeof name, "%s/file", getenv("CONTEND_PROFILE"));
  if (rank == 1 && is(what, "open")) return;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &both);
  if (rank == 1) MPI_File_set_size(both, sizeof large);
}

// What makes communicators, or meets other programs, is not called by rank 1.
static void make(const char* what) {
  MPI_Comm own, made;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &own);
  if (rank == 1) return;
  if (is(what, "group")) MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made);
  if (is(what, "between")) MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0, 4, &made);
  if (is(what, "connect")) MPI_Comm_connect("none", MPI_INFO_NULL, 1, MPI_COMM_WORLD, &made);
  if (is(what, "spawn"))
    MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &made,
                   MPI_ERRCODES_IGNORE);
  if (is(what, "accept")) MPI_Comm_accept("none", MPI_INFO_NULL, 1, MPI_COMM_WORLD, &made);
}

// Between groups: rank 0 is alone in one of them.
static void groups(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0, 4, &both);
  if (rank > 0) MPI_Barrier(both);
}

// No other program comes.
static void meet(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm made;
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  MPI_Request request;
  int level = is(mode, "tests-status") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int next = (rank + 1) % size;
  MPI_Barrier(MPI_COMM_WORLD);
  if (is(mode, "missing-send")) {
    if (rank == 0) receive(1, 7);
  } else if (is(mode, "both-receive")) {
    receive(1 - rank, 7);
  } else if (is(mode, "ring-of-sends")) {
    MPI_Send(large, sizeof large, MPI_CHAR, next, 7, MPI_COMM_WORLD);
  } else if (is(mode, "skipped")) {
    if (rank == 0) receive(MPI_ANY_SOURCE, 7);
  } else if (is(mode, "finalized")) {
    if (rank == 0) MPI_Finalize();
    if (rank == 0) return 0;
  } else if (is(mode, "collectives")) {
    MPI_Comm pair;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    if (rank == 0) MPI_Bcast(large, sizeof large, MPI_CHAR, 1, pair);
    if (rank == 1) MPI_Reduce(large, greatest, sizeof large, MPI_CHAR, MPI_MAX, 1, pair);
  } else if (is(mode, "stopped")) {
    if (rank == 1) raise(SIGSTOP);
  } else if (is(mode, "lost")) {
    if (rank == 1) kill(getpid(), SIGKILL);
  } else if (is(mode, "wait")) {
    MPI_Irecv(&other, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(mode, "either")) {
    if (rank == 0) either();
  } else if (is(mode, "tags")) {
    if (rank == 0) receive(1, 5);
    if (rank == 1) MPI_Ssend(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  } else if (is(mode, "tags-sent")) {
    if (rank == 0) receive(1, 5);
    if (rank == 1) MPI_Send(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  } else if (is(mode, "itself")) {
    if (rank == 0) MPI_Ssend(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else if (strncmp(mode, "file-", 5) == 0) {
    file(mode + 5);
  } else if (is(mode, "probe")) {
    MPI_Status status;
    if (rank == 0) MPI_Probe(1, 3, MPI_COMM_WORLD, &status);
  } else if (is(mode, "window")) {
    window(1);
  } else if (strncmp(mode, "rma-", 4) == 0) {
    epochs(mode + 4);
  } else if (strncmp(mode, "reads-", 6) == 0) {
    poll(mode + 6);
  } else if (is(mode, "detach")) {
    detach();
  } else if (is(mode, "exchange")) {
    exchange();
  } else if (is(mode, "roots")) {
    MPI_Gather(&number, 1, MPI_INT, large, 1, MPI_INT, rank, MPI_COMM_WORLD);
  } else if (is(mode, "nonblocking")) {
    if (rank == 0) MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (is(mode, "left")) {
    // The root need not wait for the others.
    if (rank == 0) MPI_Bcast(large, 4, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Reduce(&number, &other, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
  } else if (strncmp(mode, "polls", 5) == 0 || strncmp(mode, "tests", 5) == 0) {
    if (rank == 0) ask(mode);
  } else if (is(mode, "duplicate")) {
    MPI_Comm made;
    if (rank == 0) MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(mode, "disconnect")) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (rank == 1) MPI_Comm_disconnect(&made);
  } else if (strncmp(mode, "make-", 5) == 0) {
    make(mode + 5);
  } else if (is(mode, "meet")) {
    meet();
  } else if (is(mode, "groups")) {
    groups();
  } else if (is(mode, "pipe")) {
    int ends[2];
    if (rank == 1 && pipe(ends) == 0)
      for (;;)
        if (write(ends[1], large, sizeof large) < 0) break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
