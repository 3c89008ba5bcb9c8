/// Erroneous calls of each kind: `errors returned` or `errors handled`. Only what all libraries
/// report without an end of the program; a right call follows each.
#include "common.h"

static MPI_Comm comm;
static int handled, handled_class;

static void handler(MPI_Comm* given, int* code, ...) {
  (void)given;
  handled++;
  MPI_Error_class(*code, &handled_class);
}

static const char* name_of(int class) {
  static const struct {
    int class;
    const char* name;
  } names[] = {{MPI_SUCCESS, "success"},
               {MPI_ERR_COUNT, "count"},
               {MPI_ERR_TYPE, "type"},
               {MPI_ERR_RANK, "rank"},
               {MPI_ERR_TAG, "tag"},
               {MPI_ERR_COMM, "comm"},
               {MPI_ERR_ROOT, "root"},
               {MPI_ERR_OP, "op"},
               {MPI_ERR_ARG, "arg"},
               {MPI_ERR_BUFFER, "buffer"},
               {MPI_ERR_REQUEST, "request"},
               {MPI_ERR_TRUNCATE, "truncate"},
               {MPI_ERR_IN_STATUS, "in status"},
               {MPI_ERR_OTHER, "other"},
               {MPI_ERR_INTERN, "intern"}};
  for (unsigned at = 0; at < sizeof names / sizeof *names; at++)
    if (names[at].class == class) return names[at].name;
  return "another";
}

static void said(const char* what, int error) {
  int class = MPI_SUCCESS, data[16], room[16] = {0}, right = 0;
  if (error) MPI_Error_class(error, &class);
  for (int at = 0; at < 16; at++) data[at] = 10 * rank + at;
  CALL(Alltoall, data, 1, MPI_INT, room, 1, MPI_INT, comm);
  for (int at = 0; at < size; at++) right += room[at] == 10 * at + rank;
  say("%s: %s; handler %d %s; next %d", what, name_of(class), handled, name_of(handled_class),
      right == size);
  handled = 0, handled_class = MPI_SUCCESS;
}
// What failed is none of the calls that a profile has.
#define TRY(name, ...) said(#name "(" #__VA_ARGS__ ")", MPI_##name(__VA_ARGS__))

static void all(void) {
  int a[64] = {0}, b[64] = {0}, n[16], w[16], bad[16];
  MPI_Datatype t[16], none[16];
  MPI_Request q;
  for (int at = 0; at < 16; at++)
    n[at] = 1, w[at] = at, bad[at] = at == size - 1 ? -2 : 1, t[at] = MPI_INT,
    none[at] = MPI_DATATYPE_NULL;
  TRY(Send, a, -1, MPI_INT, 0, 0, comm);
  TRY(Send, a, 1, MPI_INT, 99, 0, comm);
  TRY(Send, a, 1, MPI_INT, 0, -5, comm);
  TRY(Send, a, 1, MPI_DATATYPE_NULL, 0, 0, comm);
  TRY(Isend, a, 1, MPI_INT, 99, 0, comm, &q);
  TRY(Irecv, a, -1, MPI_INT, 0, 0, comm, &q);
  TRY(Recv_init, a, 1, MPI_INT, 99, 0, comm, &q);
  TRY(Bcast, a, 1, MPI_INT, 99, comm);
  TRY(Bcast, a, -1, MPI_INT, 0, comm);
  TRY(Alltoall, a, -1, MPI_INT, b, -1, MPI_INT, comm);
  TRY(Alltoall, a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm);
  TRY(Alltoall, a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm);
  TRY(Alltoallv, a, bad, w, MPI_INT, b, bad, w, MPI_INT, comm);
  TRY(Alltoallv, a, n, w, MPI_DATATYPE_NULL, b, n, w, MPI_INT, comm);
  TRY(Alltoallv, a, n, w, MPI_INT, b, n, w, MPI_DATATYPE_NULL, comm);
  TRY(Alltoallw, a, bad, w, t, b, bad, w, t, comm);
  TRY(Alltoallw, a, n, w, none, b, n, w, t, comm);
  TRY(Ialltoall, a, -1, MPI_INT, b, -1, MPI_INT, comm, &q);
  TRY(Ialltoall, a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm, &q);
  TRY(Ialltoallv, a, bad, w, MPI_INT, b, bad, w, MPI_INT, comm, &q);
  TRY(Ialltoallw, a, bad, w, t, b, bad, w, t, comm, &q);
  TRY(Comm_split, comm, -5, 0, &(MPI_Comm){MPI_COMM_NULL});
  // A message that is longer than its room.
  CALL(Isend, a, 4, MPI_INT, (rank + 1) % size, 1, comm, &q);
  TRY(Recv, b, 2, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
  CALL(Wait, &q, MPI_STATUS_IGNORE);
}

/// Blocks that are longer than their room: what MPI says of them comes from the call or the wait.
static void truncated(void) {
  int a[64] = {0}, b[64] = {0};
  MPI_Request q = MPI_REQUEST_NULL;
  int error = MPI_Ialltoall(a, 4, MPI_INT, b, 2, MPI_INT, comm, &q);
  if (!error) error = MPI_Wait(&q, MPI_STATUS_IGNORE);
  said("Ialltoall", error);
}

/// No place for requests or for what is told of them, while an operation is under way.
static void no_places(void) {
  int index = 0, done = 0, indexes[2], a[16] = {0}, b[16];
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, under_way;
  CALL(Ialltoall, a, 1, MPI_INT, b, 1, MPI_INT, comm, &under_way);
  TRY(Wait, NULL, MPI_STATUS_IGNORE);
  TRY(Test, NULL, &done, MPI_STATUS_IGNORE);
  TRY(Waitany, 2, NULL, &index, MPI_STATUS_IGNORE);
  TRY(Waitany, 2, none, NULL, MPI_STATUS_IGNORE);
  TRY(Testany, 2, NULL, &index, &done, MPI_STATUS_IGNORE);
  TRY(Waitall, 2, NULL, MPI_STATUSES_IGNORE);
  TRY(Testall, 2, NULL, &done, MPI_STATUSES_IGNORE);
  TRY(Waitsome, 2, NULL, &done, indexes, MPI_STATUSES_IGNORE);
  TRY(Waitsome, 2, none, NULL, indexes, MPI_STATUSES_IGNORE);
  TRY(Testsome, 2, NULL, &done, indexes, MPI_STATUSES_IGNORE);
  TRY(Start, NULL);
  TRY(Request_free, NULL);
  CALL(Wait, &under_way, MPI_STATUS_IGNORE);
}

/// A handler for the world only, as the calls' communicator is that or has another.
static void world(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm own = comm;
  comm = MPI_COMM_WORLD;
  int a[16] = {0}, b[16];
  TRY(Alltoall, a, -1, MPI_INT, b, -1, MPI_INT, comm);
  TRY(Send, a, 1, MPI_INT, 99, 0, comm);
  int error = MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL);
  said("null communicator", error);
  no_places();
  comm = own;
}

static void returned(void) {
  CALL(Comm_dup, MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  all();
  world();
}

static void handled_by_program(void) {
  MPI_Errhandler made;
  CALL(Comm_dup, MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(comm, made);
  MPI_Errhandler_free(&made);
  all();
}

static void truncation(void) {
  CALL(Comm_dup, MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  truncated();
}

/// Without a handler of its own a program ends at its first mistake, and a launcher may lose what
/// it printed just before.
static void fatal(void) {
  int a[16] = {0}, b[16];
  MPI_Alltoall(a, -1, MPI_INT, b, -1, MPI_INT, MPI_COMM_WORLD);
  say("after");
}

int main(int argc, char** words) {
  static const theme modes[] = {{"returned", returned},
                                {"handled", handled_by_program},
                                {"truncated", truncation},
                                {"fatal", fatal},
                                {0}};
  begin(&argc, &words, MPI_THREAD_SINGLE);
  return run_all(modes, words) || end();
}
