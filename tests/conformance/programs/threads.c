/// Several threads at a time, each on a communicator of its own and with its own tag on
/// MPI_COMM_WORLD: messages, persistent and nonblocking ones, all-to-alls, communicators that end
/// while they are used, and mistakes whose handlers call MPI themselves. Nothing but MPI brings the
/// threads into an order.
#include <pthread.h>

#include "common.h"

enum { THREADS = 4, TURNS = 12, N = 10 };
#define WORLD MPI_COMM_WORLD
#define NEXT ((rank + 1) % size)
#define LAST ((rank + size - 1) % size)
#define INTS(count) (4LL * (count))

typedef struct {
  int number;
  MPI_Comm comm;
  MPI_Errhandler handler;
  uint64_t hash;
  int *out, *in;
  known_calls known[ROUTINES];
} worker;
static worker workers[THREADS];
static __thread worker* own;

static void take(const void* data, size_t bytes) {
  own->hash = 31 * own->hash + hash_of(data, bytes);
}

static void messages(int turn) {
  MPI_Request requests[4];
  MPI_Status status;
  MPI_Message message;
  int got[2] = {-1, -1}, flag = 0, index, done, list[4], tag = own->number;
  CALL(Irecv, &got[0], 1, MPI_INT, LAST, tag, WORLD, &requests[0]);
  CALL(Ialltoall, own->out, N, MPI_INT, own->in, N, MPI_INT, own->comm, &requests[1]);
  MOVE(INTS(1), Isend, own->out, 1, MPI_INT, NEXT, tag, WORLD, &requests[2]);
  CALL(Irecv, &got[1], 1, MPI_INT, LAST, 100 + tag, WORLD, &requests[3]);
  MOVE(INTS(1), Send, own->out + 1, 1, MPI_INT, NEXT, 100 + tag, WORLD);
  switch (turn % 5) {
    case 0:
      CALL(Waitall, 4, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int at = 0; at < 4; at++)
        for (flag = 0; !flag;) CALL(Test, &requests[at], &flag, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int left = 4; left; left--) CALL(Waitany, 4, requests, &index, &status);
      break;
    case 3:
      for (int left = 4; left; left -= done)
        CALL(Waitsome, 4, requests, &done, list, MPI_STATUSES_IGNORE);
      break;
    default:
      while (!flag) CALL(Testall, 4, requests, &flag, MPI_STATUSES_IGNORE);
  }
  take(got, sizeof got);
  take(own->in, 4 * (size_t)(N * size));
  MOVE(INTS(turn), Isend, own->out, turn, MPI_INT, NEXT, 200 + tag, WORLD, &requests[0]);
  CALL(Mprobe, LAST, 200 + tag, WORLD, &message, &status);
  MOVE(INTS(turn), Mrecv, own->in, turn, MPI_INT, &message, MPI_STATUS_IGNORE);
  CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
  take(own->in, 4 * (size_t)turn);
  CALL(Irecv, &flag, 1, MPI_INT, LAST, 300 + tag, WORLD, &requests[0]);
  CALL(Cancel, &requests[0]);
  CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
  MOVE(INTS(1), Isend, own->out, 1, MPI_INT, rank, 400 + tag, WORLD, &requests[0]);
  CALL(Request_free, &requests[0]);
  MOVE(INTS(1), Recv, own->in, 1, MPI_INT, rank, 400 + tag, WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  MPI_Request requests[3];
  int count = 2, got = -1, tag = 500 + own->number;
  CALL(Recv_init, &got, 1, MPI_INT, LAST, tag, WORLD, &requests[0]);
  CALL(Send_init, own->out, 1, MPI_INT, NEXT, tag, WORLD, &requests[1]);
#if MPI_4
  CALL(Alltoall_init, own->out, 2, MPI_INT, own->in, 2, MPI_INT, own->comm, MPI_INFO_NULL,
       &requests[count++]);
#endif
  for (int turn = 0; turn < 3; turn++) {
    own->out[0] = 7 * turn + rank + own->number;
    for (int at = 0; at < 2; at++) CALL(Start, &requests[at]);
    if (count > 2) CALL(Startall, count - 2, &requests[2]);
    CALL(Waitall, count, requests, MPI_STATUSES_IGNORE);
    take(&got, sizeof got);
    if (count > 2) take(own->in, 8 * (size_t)size);
  }
  for (int at = 0; at < count; at++) CALL(Request_free, &requests[at]);
}

/// A communicator that ends while an all-to-all is under way on it.
static void short_lived(void) {
  MPI_Comm copy;
  MPI_Request request;
  CALL(Comm_dup, own->comm, &copy);
  CALL(Allreduce, own->out, own->in, 2, MPI_INT, MPI_SUM, copy);
  take(own->in, 8);
  CALL(Ialltoall, own->out, 1, MPI_INT, own->in, 1, MPI_INT, copy, &request);
  CALL(Comm_free, &copy);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  take(own->in, 4 * (size_t)size);
}

/// MPICH calls handlers while it holds its lock, so that there they may not call MPI.
static void handle(MPI_Comm* comm, int* code, ...) {
  own->hash = 31 * own->hash + (*code != MPI_SUCCESS);
#ifdef OPEN_MPI
  MPI_Request request;
  // Within a call of the program's, which is the one that counts.
  MPI_Ialltoall(own->out, 1, MPI_INT, own->in, 1, MPI_INT, *comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
  (void)comm;
#endif
}

static void mistakes(void) {
  MPI_Comm copy;
  CALL(Comm_dup, own->comm, &copy);
  MPI_Comm_set_errhandler(copy, own->handler);
  MPI_Send(own->out, -1, MPI_INT, NEXT, 0, copy);
  MPI_Alltoall(own->out, -1, MPI_INT, own->in, -1, MPI_INT, copy);
  CALL(Alltoall, own->out, 1, MPI_INT, own->in, 1, MPI_INT, copy);
  take(own->in, 4 * (size_t)size);
  CALL(Comm_free, &copy);
}

static void* work(void* given) {
  own = given;
  known_here = own->known;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int at = 0; at < N * size; at++) own->out[at] = at + turn * own->number + rank;
    messages(turn);
    CALL(Alltoall, own->out, 5, MPI_INT, own->in, 5, MPI_INT, own->comm);
    take(own->in, 20 * (size_t)size);
    if (turn % 4 == 0) short_lived();
    if (turn % 4 == 1) mistakes();
    if (turn % 4 == 2) persistent();
  }
  return NULL;
}

int main(int count, char** words) {
  pthread_t threads[THREADS];
  begin(&count, &words, MPI_THREAD_MULTIPLE);
  for (int at = 0; at < THREADS; at++) {
    worker* made = &workers[at];
    made->number = at;
    made->out = calloc((size_t)size, INTS(N)), made->in = calloc((size_t)size, INTS(N));
    MPI_Comm_create_errhandler(handle, &made->handler);
    CALL(Comm_dup, WORLD, &made->comm);
  }
  for (int at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, work, &workers[at]);
  for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
  for (int at = 0; at < THREADS; at++) {
    count_thread(workers[at].known);
    say("thread %d %016llx", at, (unsigned long long)workers[at].hash);
    MPI_Errhandler_free(&workers[at].handler);
    CALL(Comm_free, &workers[at].comm);
  }
  return end();
}
