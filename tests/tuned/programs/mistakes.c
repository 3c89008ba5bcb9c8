/* Erroneous all-to-alls, each on a communicator of its own with a handler of the program's: writes
 * to standard output what the call, the wait and the handler said, which classes, and whether a
 * right all-to-all on the same communicator then gives right data.
 *
 * mistakes [FIRST LAST] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static int calls, told, same;
static MPI_Comm comm;

static void note(MPI_Comm* of, int* error, ...) {
  MPI_Error_class(*error, &told);
  same = *of == comm;
  calls++;
  /* A handler may call MPI itself: every mistake is one of all ranks. */
  int sent[MOST] = {0}, received[MOST];
  MPI_Request request;
  MPI_Ialltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int class_of(int error) {
  int class = 0;
  if (error) MPI_Error_class(error, &class);
  return class;
}

static int data[4 * MOST], room[4 * MOST], negative[MOST], ones[MOST], fours[MOST], places[MOST],
    too_many[MOST];
static MPI_Datatype ints[MOST], nulls[MOST], uncommitted, derived;
static int size, rank;

static int begin(int which, MPI_Request* request) {
  switch (which) {
    case 0:
      return MPI_Alltoall(data, -1, MPI_INT, room, 1, MPI_INT, comm);
    case 1:
      return MPI_Alltoall(data, 1, MPI_INT, room, -1, MPI_INT, comm);
    case 2:
      return MPI_Alltoallv(data, negative, places, MPI_INT, room, negative, places, MPI_INT, comm);
    case 3:
      return MPI_Alltoallw(data, negative, places, ints, room, negative, places, ints, comm);
    case 4:
      return MPI_Alltoall(data, 1, MPI_DATATYPE_NULL, room, 1, MPI_INT, comm);
    case 5:
      return MPI_Alltoall(data, 1, MPI_INT, room, 1, MPI_DATATYPE_NULL, comm);
    case 6:
      return MPI_Alltoall(data, 1, uncommitted, room, 1, MPI_INT, comm);
    case 7:
      return MPI_Alltoallv(data, ones, places, MPI_INT, room, ones, places, uncommitted, comm);
    case 8:
      return MPI_Alltoall(NULL, 1, MPI_INT, room, 1, MPI_INT, comm);
    case 9:
      return MPI_Alltoallv(data, ones, NULL, MPI_INT, room, ones, places, MPI_INT, comm);
    case 10:
      return MPI_Alltoallw(data, ones, places, nulls, room, ones, places, ints, comm);
    case 11:
      return MPI_Alltoall(data, 4, MPI_INT, room, 2, MPI_INT, comm);
    case 12:
      return MPI_Alltoallv(data, fours, places, MPI_INT, room, ones, places, MPI_INT, comm);
    case 13:
      return MPI_Ialltoall(data, -1, MPI_INT, room, 1, MPI_INT, comm, request);
    case 14:
      return MPI_Ialltoallv(data, ones, places, MPI_INT, room, negative, places, MPI_INT, comm,
                            request);
    case 15:
      return MPI_Ialltoall(data, 1, uncommitted, room, 1, MPI_INT, comm, request);
    case 16:
      return MPI_Ialltoall(data, 1, MPI_INT, room, 1, MPI_DATATYPE_NULL, comm, request);
    case 17:
      return MPI_Ialltoall(data, 4, MPI_INT, room, 2, MPI_INT, comm, request);
    case 18:
      return MPI_Ialltoallv(data, fours, places, MPI_INT, room, ones, places, MPI_INT, comm,
                            request);
    case 19:
      return MPI_Ialltoall(data, 1, MPI_INT, room, 1, MPI_INT, comm, NULL);
    case 20:
      return MPI_Alltoall(data, 4, derived, room, 1, MPI_INT, comm);
    case 21:
      return MPI_Alltoall(data, 1, MPI_INT, NULL, 1, MPI_INT, comm);
    case 22:
      return MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, comm);
    case 23:
      return MPI_Alltoall(data, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm);
    case 24:
      return MPI_Alltoallv(data, too_many, places, MPI_INT, room, ones, places, MPI_INT, comm);
    case 25:
      return MPI_Ialltoallv(data, too_many, places, MPI_INT, room, ones, places, MPI_INT, comm,
                            request);
    default:
      return MPI_SUCCESS;
  }
}
#define MISTAKES 26

int main(int count, char** words) {
  int first = 0, last = MISTAKES - 1;
  MPI_Init(&count, &words);
  if (count > 2) first = atoi(words[1]), last = atoi(words[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Type_vector(2, 1, 2, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  for (int at = 0; at < MOST; at++) {
    negative[at] = ones[at] = 1, fours[at] = too_many[at] = 4, places[at] = 4 * at;
    ints[at] = MPI_INT, nulls[at] = MPI_DATATYPE_NULL;
  }
  negative[size - 1] = -2, too_many[rank] = 1;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note, &handler);
  for (int which = first; which <= last; which++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Request request = MPI_REQUEST_NULL;
    calls = told = same = 0;
    int started = class_of(begin(which, &request)), waited = 0;
    if (request != MPI_REQUEST_NULL && !started)
      waited = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
    int right = 1;
    for (int again = 0; again < 3; again++) {
      for (int other = 0; other < size; other++)
        data[other] = 100 * rank + other + again, room[other] = -1;
      if (again == 1) {
        MPI_Ialltoall(data, 1, MPI_INT, room, 1, MPI_INT, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Alltoall(data, 1, MPI_INT, room, 1, MPI_INT, comm);
      }
      for (int other = 0; other < size; other++) right &= room[other] == 100 * other + rank + again;
    }
    printf(
        "rank %d mistake %d: call %d, wait %d, handler called %d with %d, %s communicator, then "
        "%s\n",
        rank, which, started, waited, calls, told, same ? "this" : "another",
        right ? "right" : "wrong");
    fflush(stdout);
    MPI_Comm_free(&comm);
  }
  MPI_Errhandler_free(&handler);
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&derived);
  return MPI_Finalize();
}
