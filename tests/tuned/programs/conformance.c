/* All-to-alls drawn at random, of every form: writes a hash of all that was received, gaps too, for
 * every call to FOLDER/RANK, so that two libraries can be held against each other byte for byte.
 *
 * conformance FOLDER STEPS SEED [threads] */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT 1
#else
#define PERSISTENT 0
#endif
#define MOST 32

enum { EVEN, UNEVEN, TYPED, KINDS };
enum { BLOCKING, NONBLOCKING, AGAIN, FORMS };

/* What one call sends and receives. */
typedef struct {
  int kind, form, in_place, size, rank, ints;
  unsigned char *send, *receive;
  size_t send_bytes, receive_bytes;
  int send_counts[MOST], receive_counts[MOST], send_places[MOST], receive_places[MOST];
  MPI_Datatype send_types[MOST], receive_types[MOST];
  MPI_Datatype made[2 + 2 * MOST];
  int made_count;
  MPI_Request request;
} call;

static FILE* out;
static uint64_t seed;

static uint64_t draw(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t x = seed ^ a * 0x9e3779b97f4a7c15u ^ b * 0xd1342543de82ef95u ^ c * 0xbf58476d1ce4e5b9u ^
               d * 0x94d049bb133111ebu;
  for (int turn = 0; turn < 3; turn++) x = (x ^ x >> 31) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

static uint64_t hash_of(const unsigned char* data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t at = 0; at < bytes; at++) hash = (hash ^ data[at]) * 0x100000001b3u;
  return hash;
}

/* Datatypes whose items all hold so many ints, with gaps and extents of their own. */
static MPI_Datatype type_of(int which, int ints) {
  MPI_Datatype type, inner;
  if (which == 0) {
    MPI_Type_contiguous(ints, MPI_INT, &type);
  } else if (which == 1) {
    MPI_Type_vector(ints, 1, 3, MPI_INT, &type);
  } else if (which == 2) {
    MPI_Type_contiguous(ints, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 4 * ints + 20, &type);
    MPI_Type_free(&inner);
  } else {
    MPI_Type_vector(ints, 1, -2, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -8 * ints, 16 * ints, &type);
    MPI_Type_free(&inner);
  }
  MPI_Type_commit(&type);
  return type;
}

/* Bytes around an item that no type leaves. */
#define ROOM(ints) ((size_t)(ints) * 16 + 64)

static void prepare(call* made, MPI_Comm comm, uint64_t step) {
  memset(made, 0, sizeof *made);
  MPI_Comm_size(comm, &made->size);
  MPI_Comm_rank(comm, &made->rank);
  made->kind = draw(step, 1, 0, 0) % KINDS;
  made->form = draw(step, 2, 0, 0) % (PERSISTENT ? FORMS : AGAIN);
  made->in_place = draw(step, 3, 0, 0) % 4 == 0;
  int ints = 1 + draw(step, 4, 0, 0) % 5, most = draw(step, 5, 0, 0) % 5 ? 9 : 400;
  made->ints = ints;
  MPI_Datatype sends = type_of(draw(step, 6, made->rank, 0) % 4, ints);
  MPI_Datatype receives = type_of(draw(step, 7, made->rank, 0) % 4, ints);
  made->made[made->made_count++] = sends;
  made->made[made->made_count++] = receives;
  size_t send_at = ROOM(ints), receive_at = ROOM(ints);
  MPI_Aint lower, send_extent, receive_extent;
  MPI_Type_get_extent(sends, &lower, &send_extent);
  MPI_Type_get_extent(receives, &lower, &receive_extent);
  int send_item = 4, receive_item = 4;
  for (int other = 0; other < made->size; other++) {
    uint64_t to = draw(step, 8, made->rank, other), from = draw(step, 8, other, made->rank);
    /* In place what a pair sends each way is alike. */
    if (made->in_place && other < made->rank) to = from;
    if (made->in_place && other >= made->rank) from = to;
    if (made->kind == EVEN) to = from = draw(step, 8, 0, 0);
    made->send_counts[other] = to % 7 ? (int)(to % most) : 0;
    made->receive_counts[other] = from % 7 ? (int)(from % most) : 0;
    made->send_types[other] = sends;
    made->receive_types[other] = receives;
    /* Open MPI 4.1 takes bytes for items where there is one rank: there they all begin at 0. */
    if (made->size == 1) made->send_places[other] = made->receive_places[other] = 0;
    if (made->kind == TYPED && made->size > 1) {
      made->send_places[other] = (int)send_at;
      made->receive_places[other] = (int)receive_at;
      send_at += made->send_counts[other] * send_extent + ROOM(ints);
      receive_at += made->receive_counts[other] * receive_extent + ROOM(ints);
    } else if (made->size > 1) {
      made->send_places[other] = send_item;
      made->receive_places[other] = receive_item;
      send_item += made->send_counts[other] + (made->kind == UNEVEN ? 1 : 0);
      receive_item += made->receive_counts[other] + (made->kind == UNEVEN ? 1 : 0);
    }
  }
  made->send_bytes = send_at + (send_item + most) * send_extent + 2 * ROOM(ints) + 512;
  made->receive_bytes = receive_at + (receive_item + most) * receive_extent + 2 * ROOM(ints) + 512;
  made->send = malloc(made->send_bytes);
  made->receive = malloc(made->receive_bytes);
  for (size_t at = 0; at < made->send_bytes; at++)
    made->send[at] = (unsigned char)draw(step, 9, made->rank, at);
  for (size_t at = 0; at < made->receive_bytes; at++)
    made->receive[at] = (unsigned char)(made->in_place ? draw(step, 10, made->rank, at) : 0xa5);
}

static void begin(call* made, MPI_Comm comm, uint64_t step) {
  unsigned char *send = made->send + 256, *receive = made->receive + 256;
  void* data = made->in_place ? MPI_IN_PLACE : (void*)send;
  int absolute = made->kind == TYPED && !made->in_place && draw(step, 11, 0, 0) % 3 == 0;
  MPI_Datatype send_type = made->made[0], receive_type = made->made[1];
  if (absolute) {
    /* Types of absolute addresses, from MPI_BOTTOM on. */
    for (int other = 0; other < made->size; other++) {
      MPI_Aint address;
      int one = 1;
      MPI_Get_address(send + made->send_places[other], &address);
      MPI_Datatype type;
      int length = made->send_counts[other] * made->ints;
      MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
      MPI_Type_commit(&type);
      made->send_types[other] = made->made[made->made_count++] = type;
      MPI_Get_address(receive + made->receive_places[other], &address);
      length = made->receive_counts[other] * made->ints;
      MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
      MPI_Type_commit(&type);
      made->receive_types[other] = made->made[made->made_count++] = type;
      made->send_counts[other] = made->receive_counts[other] = one;
      made->send_places[other] = made->receive_places[other] = 0;
    }
    receive = MPI_BOTTOM;
    data = MPI_BOTTOM;
  }
  MPI_Request* request = &made->request;
  int *sc = made->send_counts, *rc = made->receive_counts;
  int *sp = made->send_places, *rp = made->receive_places;
  MPI_Datatype *st = made->send_types, *rt = made->receive_types;
  switch (made->form * KINDS + made->kind) {
    case BLOCKING* KINDS + EVEN:
      MPI_Alltoall(data, sc[0], send_type, receive, rc[0], receive_type, comm);
      break;
    case BLOCKING* KINDS + UNEVEN:
      MPI_Alltoallv(data, sc, sp, send_type, receive, rc, rp, receive_type, comm);
      break;
    case BLOCKING* KINDS + TYPED:
      MPI_Alltoallw(data, sc, sp, st, receive, rc, rp, rt, comm);
      break;
    case NONBLOCKING* KINDS + EVEN:
      MPI_Ialltoall(data, sc[0], send_type, receive, rc[0], receive_type, comm, request);
      break;
    case NONBLOCKING* KINDS + UNEVEN:
      MPI_Ialltoallv(data, sc, sp, send_type, receive, rc, rp, receive_type, comm, request);
      break;
    case NONBLOCKING* KINDS + TYPED:
      MPI_Ialltoallw(data, sc, sp, st, receive, rc, rp, rt, comm, request);
      break;
#if PERSISTENT
    case AGAIN* KINDS + EVEN:
      MPI_Alltoall_init(data, sc[0], send_type, receive, rc[0], receive_type, comm, MPI_INFO_NULL,
                        request);
      break;
    case AGAIN* KINDS + UNEVEN:
      MPI_Alltoallv_init(data, sc, sp, send_type, receive, rc, rp, receive_type, comm,
                         MPI_INFO_NULL, request);
      break;
    case AGAIN* KINDS + TYPED:
      MPI_Alltoallw_init(data, sc, sp, st, receive, rc, rp, rt, comm, MPI_INFO_NULL, request);
      break;
#endif
  }
  if (made->form == AGAIN) MPI_Start(request);
}

static void note(call* made, uint64_t step) {
  fprintf(out, "%llu kind %d form %d in place %d: %016llx\n", (unsigned long long)step, made->kind,
          made->form, made->in_place,
          (unsigned long long)hash_of(made->receive, made->receive_bytes));
}

static void end(call* made, uint64_t step) {
  note(made, step);
  if (made->form == AGAIN) {
    /* Once more, with other data. */
    for (size_t at = 0; at < made->send_bytes; at++) made->send[at] ^= 0x5a;
    MPI_Start(&made->request);
    MPI_Wait(&made->request, MPI_STATUS_IGNORE);
    note(made, step);
    MPI_Request_free(&made->request);
  }
  for (int index = 0; index < made->made_count; index++) MPI_Type_free(&made->made[index]);
  free(made->send);
  free(made->receive);
}

/* Waits in one of the ways that there are, for one request or both. */
static void wait_for(MPI_Request requests[2], int again, uint64_t step) {
  int index, flag = 0, count, indices[2], left = 2;
  /* MPICH 4.0 takes what was in the statuses of MPI_Testall for errors. */
  MPI_Status statuses[2] = {{0}, {0}};
  /* MPICH 4.0 leaves persistent collectives active after MPI_Waitany and MPI_Waitsome. */
  switch (draw(step, 12, 0, 0) % (again ? 3 : 6)) {
    case 0:
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitall(2, requests, statuses);
      break;
    case 2:
      for (int each = 0; each < 2; each++)
        for (flag = 0; !flag;) MPI_Test(&requests[each], &flag, MPI_STATUS_IGNORE);
      break;
    case 3:
      while (!flag) MPI_Testall(2, requests, &flag, statuses);
      break;
    case 4:
      while (left--) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      break;
    default:
      while (left > 0) {
        MPI_Waitsome(2, requests, &count, indices, statuses);
        left = count == MPI_UNDEFINED ? 0 : left - count;
      }
      break;
  }
}

/* Two all-to-alls, under way together where they can be, with other calls in between. */
static void two(MPI_Comm comm, uint64_t step) {
  call first, second;
  prepare(&first, comm, 2 * step);
  prepare(&second, comm, 2 * step + 1);
  first.request = second.request = MPI_REQUEST_NULL;
  begin(&first, comm, 2 * step);
  int rank, size, got = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  switch (draw(step, 13, 0, 0) % 4) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
                   (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
      break;
    case 2:
      /* Some wait for one that only begins the next when it has heard from them. */
      if (rank == 0)
        for (int other = 1; other < size; other++)
          MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE);
      else
        MPI_Send(&rank, 1, MPI_INT, 0, 2, comm);
      break;
    default:
      break;
  }
  begin(&second, comm, 2 * step + 1);
  MPI_Request both[2] = {first.request, second.request};
  wait_for(both, first.form == AGAIN || second.form == AGAIN, step);
  end(&first, 2 * step);
  end(&second, 2 * step + 1);
}

static int copies;
static int copied(MPI_Comm comm, int key, void* extra, void* in, void* value, int* flag) {
  (void)comm, (void)key, (void)extra, (void)value;
  copies++;
  *(void**)value = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void between_groups(MPI_Comm world, int rank, int size) {
  MPI_Comm half, between;
  int lower = rank < size / 2, other = lower ? size - size / 2 : size / 2;
  int data[MOST], room[MOST];
  MPI_Comm_split(world, lower, rank, &half);
  MPI_Intercomm_create(half, 0, world, lower ? size / 2 : 0, 7, &between);
  for (int index = 0; index < MOST; index++) data[index] = 100 * rank + index, room[index] = -1;
  MPI_Alltoall(data, 1, MPI_INT, room, 1, MPI_INT, between);
  fprintf(out, "between groups: %016llx\n",
          (unsigned long long)hash_of((unsigned char*)room, sizeof(int) * other));
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* A communicator and a type that go while a call is under way. */
static void forgetful(MPI_Comm world, int rank, int size) {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Request request;
  int* data = malloc(sizeof(int) * size * 40);
  int* room = malloc(sizeof(int) * size * 40);
  MPI_Comm_dup(world, &comm);
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int index = 0; index < size * 40; index++) data[index] = 1000 * rank + index;
  MPI_Ialltoall(data, 10, type, room, 10, type, comm, &request);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  fprintf(out, "forgetful: %016llx\n",
          (unsigned long long)hash_of((unsigned char*)room, sizeof(int) * size * 40));
  free(data);
  free(room);
}

static void mistaken(MPI_Comm world) {
  MPI_Comm comm;
  int data[MOST] = {0}, room[MOST], class = 0;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int error = MPI_Alltoall(data, -1, MPI_INT, room, -1, MPI_INT, comm);
  MPI_Error_class(error, &class);
  fprintf(out, "mistaken: %d\n", class == MPI_ERR_COUNT);
  MPI_Comm_free(&comm);
}

typedef struct {
  MPI_Comm comm;
  uint64_t first;
  int steps;
  uint64_t* hashes;
} strand;

/* Blocking and nonblocking calls of one thread among several. */
static void* run_strand(void* given) {
  strand* own = given;
  int rank, size;
  MPI_Comm_rank(own->comm, &rank);
  MPI_Comm_size(own->comm, &size);
  for (int step = 0; step < own->steps; step++) {
    int count = 1 + (int)(draw(own->first, step, 0, 0) % 60);
    int* data = malloc(sizeof(int) * count * size);
    int* room = malloc(sizeof(int) * count * size);
    for (int index = 0; index < count * size; index++)
      data[index] = (int)draw(own->first, step, rank, index);
    if (step % 2) {
      MPI_Alltoall(data, count, MPI_INT, room, count, MPI_INT, own->comm);
    } else {
      MPI_Request request;
      MPI_Ialltoall(data, count, MPI_INT, room, count, MPI_INT, own->comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    own->hashes[step] = hash_of((unsigned char*)room, sizeof(int) * count * size);
    free(data);
    free(room);
  }
  return NULL;
}

#define THREADS 3
static void several_threads(MPI_Comm world, int steps) {
  pthread_t threads[THREADS];
  strand strands[THREADS];
  for (int index = 0; index < THREADS; index++) {
    strands[index] = (strand){.first = 1000 + index, .steps = steps};
    strands[index].hashes = malloc(sizeof(uint64_t) * steps);
    MPI_Comm_dup(world, &strands[index].comm);
  }
  for (int index = 0; index < THREADS; index++)
    pthread_create(&threads[index], NULL, run_strand, &strands[index]);
  for (int index = 0; index < THREADS; index++) pthread_join(threads[index], NULL);
  for (int index = 0; index < THREADS; index++) {
    for (int step = 0; step < steps; step++)
      fprintf(out, "thread %d step %d: %016llx\n", index, step,
              (unsigned long long)strands[index].hashes[step]);
    MPI_Comm_free(&strands[index].comm);
    free(strands[index].hashes);
  }
}

int main(int count, char** words) {
  int rank, size, level, steps = atoi(words[2]);
  int threads = count > 4;
  MPI_Init_thread(&count, &words, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  seed = strtoull(words[3], NULL, 10);
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", words[1], rank);
  out = fopen(path, "w");
  if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  if (threads) {
    if (level == MPI_THREAD_MULTIPLE) several_threads(MPI_COMM_WORLD, steps);
  } else {
    int key, sizes[1] = {0}, wraps[1] = {1};
    MPI_Comm comms[6];
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_set_attr(comms[1], key, NULL);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
    MPI_Dims_create(size, 1, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, wraps, 1, &comms[4]);
    comms[5] = MPI_COMM_SELF;
    for (int step = 0; step < steps; step++) two(comms[draw(step, 14, 0, 0) % 6], (uint64_t)step);
    fprintf(out, "copies of attributes: %d\n", copies);
    between_groups(MPI_COMM_WORLD, rank, size);
    forgetful(MPI_COMM_WORLD, rank, size);
    mistaken(MPI_COMM_WORLD);
    for (int index = 1; index < 5; index++) MPI_Comm_free(&comms[index]);
    MPI_Comm_free_keyval(&key);
  }
  fclose(out);
  MPI_Finalize();
  return 0;
}
