/* plenty attribute|calls|communicators: a datatype with an attribute, more outstanding calls than
 * tags, more communicators than can be duplicated; prints "right" where all is received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 16500
#define SMALL_CALLS 16000
#define LARGER 8
#define COMMUNICATORS 1500

static int rank, size, copied, deleted;

static int copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  copied++;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int forget(MPI_Datatype type, int key, void* value, void* extra) {
  deleted++;
  return MPI_SUCCESS;
}

static int value_of(int call, int from, int to) { return 1000 * call + 10 * from + to; }

static int attribute(void) {
  MPI_Datatype type;
  MPI_Request request;
  int key, data[4], room[4] = {0};
  MPI_Type_create_keyval(copy, forget, &key, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_set_attr(type, key, &key);
  for (int at = 0; at < 4; at++) data[at] = value_of(at % 2, rank, at / 2);
  MPI_Ialltoall(data, 1, type, room, 1, type, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int before = deleted, right = 1;
  MPI_Type_free(&type);
  for (int at = 0; at < 4; at++) right &= room[at] == value_of(at % 2, at / 2, rank);
  return right && copied == 0 && before == 0 && deleted == 1;
}

/* The last calls have larger blocks, and so perhaps another schedule. */
static int many_calls(void) {
  size_t ints = (size_t)CALLS * size * LARGER;
  int *data = malloc(sizeof(int) * ints), *room = malloc(sizeof(int) * ints);
  MPI_Request* requests = malloc(sizeof *requests * CALLS);
  int right = 1;
  for (int call = 0; call < CALLS; call++) {
    int count = call < SMALL_CALLS ? 1 : LARGER;
    size_t at = (size_t)call * size * LARGER;
    /* Ranks are not equally far. */
    if (call == SMALL_CALLS && rank % 2) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int to = 0; to < size; to++) data[at + to * count] = value_of(call, rank, to);
    MPI_Ialltoall(data + at, count, MPI_INT, room + at, count, MPI_INT, MPI_COMM_WORLD,
                  &requests[call]);
  }
  for (int call = CALLS - 1; call >= 0; call--) MPI_Wait(&requests[call], MPI_STATUS_IGNORE);
  for (int call = 0; call < CALLS; call++) {
    int count = call < SMALL_CALLS ? 1 : LARGER;
    size_t at = (size_t)call * size * LARGER;
    for (int from = 0; from < size; from++)
      right &= room[at + from * count] == value_of(call, from, rank);
  }
  return right;
}

static int many_communicators(void) {
  static MPI_Comm made[COMMUNICATORS];
  int right = 1;
  for (int call = 0; call < COMMUNICATORS; call++) MPI_Comm_dup(MPI_COMM_WORLD, &made[call]);
  for (int call = 0; call < COMMUNICATORS; call += 7) {
    int data[2], room[2];
    MPI_Request request;
    for (int to = 0; to < size; to++) data[to] = value_of(call, rank, to);
    if (call % 2) {
      MPI_Alltoall(data, 1, MPI_INT, room, 1, MPI_INT, made[call]);
    } else {
      MPI_Ialltoall(data, 1, MPI_INT, room, 1, MPI_INT, made[call], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int from = 0; from < size; from++) right &= room[from] == value_of(call, from, rank);
  }
  for (int call = 0; call < COMMUNICATORS; call++) MPI_Comm_free(&made[call]);
  return right;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = words[1][0] == 'a'   ? attribute()
              : words[1][1] == 'a' ? many_calls()
                                   : many_communicators();
  puts(right ? "right" : "wrong");
  return MPI_Finalize();
}
