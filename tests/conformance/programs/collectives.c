/// Collectives of every kind and their datatypes: `collectives MODE ...`.
#define _GNU_SOURCE
#include <sys/mman.h>

#include "common.h"

#define WORLD MPI_COMM_WORLD
enum { MOST = 8, ROOM = 4096 };
static int data[ROOM], room[ROOM], counts[MOST], places[MOST], widths[MOST];
static MPI_Datatype ints[MOST];

static void fill(void) {
  for (int at = 0; at < ROOM; at++) data[at] = 1000 * rank + at, room[at] = 7 * rank - at;
  for (int at = 0; at < MOST; at++) {
    counts[at] = 3, places[at] = 5 * at, widths[at] = 20 * at, ints[at] = MPI_INT;
  }
}

static void said(const char* what) {
  say_hash(what, room, sizeof room);
  fill();
}

/// A call in its blocking and its nonblocking form.
#define BOTH(name, lower, ...)               \
  do {                                       \
    MPI_Request request;                     \
    CALL(name, __VA_ARGS__);                 \
    said(#name);                             \
    CALL(I##lower, __VA_ARGS__, &request);   \
    CALL(Wait, &request, MPI_STATUS_IGNORE); \
    said("I" #lower);                        \
  } while (0)

static void in_place(void) {
  int* own = rank ? data : MPI_IN_PLACE;
  BOTH(Gather, gather, own, 4, MPI_INT, room, 4, MPI_INT, 0, WORLD);
  BOTH(Gatherv, gatherv, own, 3, MPI_INT, room, counts, places, MPI_INT, 0, WORLD);
  BOTH(Scatter, scatter, data, 4, MPI_INT, rank ? room : MPI_IN_PLACE, 4, MPI_INT, 0, WORLD);
  BOTH(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, room, 4, MPI_INT, WORLD);
  BOTH(Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, room, counts, places, MPI_INT,
       WORLD);
  BOTH(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, room, 300, MPI_INT, WORLD);
  BOTH(Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, room, counts, places,
       MPI_INT, WORLD);
  BOTH(Alltoallw, alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, room, counts, widths, ints, WORLD);
  BOTH(Allreduce, allreduce, MPI_IN_PLACE, room, 9, MPI_INT, MPI_SUM, WORLD);
  BOTH(Reduce_scatter, reduce_scatter, MPI_IN_PLACE, room, counts, MPI_INT, MPI_MAX, WORLD);
  BOTH(Reduce_scatter_block, reduce_scatter_block, MPI_IN_PLACE, room, 2, MPI_INT, MPI_MIN, WORLD);
  BOTH(Scan, scan, MPI_IN_PLACE, room, 5, MPI_INT, MPI_SUM, WORLD);
}

/// Between groups of one rank and of all others.
static void between_groups(void) {
  MPI_Comm half, between;
  int lower = rank == 0, root = lower ? MPI_ROOT : 0;
  CALL(Comm_split, WORLD, lower, rank, &half);
  CALL(Intercomm_create, half, 0, WORLD, lower ? 1 : 0, 7, &between);
  BOTH(Bcast, bcast, lower ? data : room, 9, MPI_INT, root, between);
  BOTH(Alltoall, alltoall, data, 30, MPI_INT, room, 30, MPI_INT, between);
  BOTH(Alltoallv, alltoallv, data, counts, places, MPI_INT, room, counts, places, MPI_INT, between);
  BOTH(Alltoallw, alltoallw, data, counts, widths, ints, room, counts, widths, ints, between);
  BOTH(Allgather, allgather, data, 4, MPI_INT, room, 4, MPI_INT, between);
  BOTH(Allreduce, allreduce, data, room, 4, MPI_INT, MPI_SUM, between);
  BOTH(Gather, gather, data, 4, MPI_INT, room, 4, MPI_INT, root, between);
  CALL(Barrier, between);
  CALL(Comm_disconnect, &between);
  CALL(Comm_free, &half);
}

static void of_neighbours(MPI_Comm comm) {
  MPI_Aint wide[MOST];
  for (int at = 0; at < MOST; at++) wide[at] = widths[at];
  BOTH(Neighbor_allgather, neighbor_allgather, data, 2, MPI_INT, room, 2, MPI_INT, comm);
  BOTH(Neighbor_allgatherv, neighbor_allgatherv, data, 3, MPI_INT, room, counts, places, MPI_INT,
       comm);
  BOTH(Neighbor_alltoall, neighbor_alltoall, data, 2, MPI_INT, room, 2, MPI_INT, comm);
  BOTH(Neighbor_alltoallv, neighbor_alltoallv, data, counts, places, MPI_INT, room, counts, places,
       MPI_INT, comm);
  BOTH(Neighbor_alltoallw, neighbor_alltoallw, data, counts, wide, ints, room, counts, wide, ints,
       comm);
  BOTH(Alltoall, alltoall, data, 30, MPI_INT, room, 30, MPI_INT, comm);
}

static void neighbours(void) {
  MPI_Comm comm;
  int extents[1] = {size}, wraps[1] = {0}, next = (rank + 1) % size, index[MOST], edges[MOST];
  CALL(Cart_create, WORLD, 1, extents, wraps, 1, &comm);
  of_neighbours(comm);
  CALL(Comm_free, &comm);
  for (int at = 0; at < size; at++) index[at] = at + 1, edges[at] = size - 1 - at;
  CALL(Graph_create, WORLD, size, index, edges, 0, &comm);
  of_neighbours(comm);
  CALL(Comm_free, &comm);
  CALL(Dist_graph_create, WORLD, 1, &rank, &(int){1}, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
       &comm);
  of_neighbours(comm);
  CALL(Comm_free, &comm);
}

static int copies, deletions;
static int copied(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)key, (void)extra;
  *(void**)out = in;
  copies++;
  return *flag = 1, MPI_SUCCESS;
}
static int deleted(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)extra;
  free(value);
  deletions++;
  return MPI_SUCCESS;
}

/// Datatypes whose attributes go with them, used by all-to-alls that outlive the program's handle.
static void attributes(void) {
  int key, flag, *info;
  MPI_Datatype type, types[MOST], twin;
  MPI_Request request;
  for (int copying = 0; copying < 2; copying++) {
    MPI_Type_create_keyval(copying ? copied : MPI_TYPE_DUP_FN, deleted, &key, NULL);
    for (int form = 0; form < 4; form++) {
      MPI_Type_vector(2, 3, 5, MPI_INT, &type);
      MPI_Type_commit(&type);
      info = malloc(sizeof *info);
      *info = 4711;
      MPI_Type_set_attr(type, key, info);
      for (int at = 0; at < MOST; at++) types[at] = type, widths[at] = 100 * at;
      if (form == 0) {
        CALL(Alltoall, data, 9, type, room, 9, type, WORLD);
      } else {
        if (form == 1) CALL(Ialltoall, data, 9, type, room, 9, type, WORLD, &request);
        if (form == 2)
          CALL(Ialltoallv, data, counts, places, type, room, counts, places, type, WORLD, &request);
        if (form == 3)
          CALL(Ialltoallw, data, counts, widths, types, room, counts, widths, types, WORLD,
               &request);
        CALL(Wait, &request, MPI_STATUS_IGNORE);
      }
      MPI_Type_get_attr(type, key, &info, &flag);
      say("form %d: there %d: %d, copies %d, deletions %d", form, flag, *info, copies, deletions);
      said("typed");
      MPI_Type_free(&type);
    }
    // The program's own duplicate calls its callback once.
    if (copying) {
      MPI_Type_contiguous(2, MPI_INT, &type);
      info = malloc(sizeof *info);
      MPI_Type_set_attr(type, key, info);
      MPI_Type_dup(type, &twin);
      MPI_Type_delete_attr(type, key);
      say("duplicate: copies %d, deletions %d", copies, deletions);
    }
    MPI_Type_free_keyval(&key);
  }
}

/// Room of which no more is there than what is touched.
#define FAR (9l << 28)
#define SPACE ((size_t)FAR * MOST)
static char* spacious(void) {
  return mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
}

/// Holes, bounds below zero, MPI_BOTTOM, and extents of more than 2^31 bytes around few bytes.
static void types(void) {
  MPI_Datatype holes, below, absolute[2], far, items[MOST];
  MPI_Aint at[2];
  int ones[MOST], none[MOST] = {0}, blocks[2] = {size, size};
  MPI_Type_vector(3, 2, 4, MPI_INT, &holes);
  MPI_Type_commit(&holes);
  BOTH(Alltoall, alltoall, data, 8, holes, room, 8, holes, WORLD);
  BOTH(Alltoallv, alltoallv, data, counts, places, holes, room, counts, places, holes, WORLD);
  BOTH(Allgather, allgather, data, 2, holes, room, 2, holes, WORLD);
  MPI_Type_create_resized(holes, -8, 64, &below);
  MPI_Type_commit(&below);
  BOTH(Alltoall, alltoall, data + 8, 8, below, room + 8, 8, below, WORLD);
  BOTH(Alltoall, alltoall, data + 8, 12, MPI_INT, room + 8, 2, below, WORLD);
  BOTH(Alltoallv, alltoallv, data + 8, counts, places, below, room + 8, counts, places, below,
       WORLD);
  for (int rank = 0; rank < MOST; rank++) items[rank] = rank % 2 ? below : holes, ones[rank] = 1;
  for (int rank = 0; rank < size; rank++) widths[rank] = 512 * rank;
  int mine[MOST];
  MPI_Datatype sent[MOST];
  for (int other = 0; other < size; other++) mine[other] = 6, sent[other] = MPI_INT;
  CALL(Alltoallw, data + 8, mine, widths, sent, room + 8, ones, widths, items, WORLD);
  said("Alltoallw");
  MPI_Get_address(data, &at[0]);
  MPI_Get_address(data + 2000, &at[1]);
  for (int side = 0; side < 2; side++) {
    MPI_Type_create_hindexed(2, blocks, at, MPI_INT, &absolute[side]);
    MPI_Type_commit(&absolute[side]);
    MPI_Get_address(room + 100, &at[0]);
    MPI_Get_address(room + 3000, &at[1]);
  }
  for (int other = 0; other < MOST; other++) items[other] = absolute[1], sent[other] = absolute[0];
  for (int other = 1; other < size; other++) ones[other] = 0;
  int from[MOST] = {0};
  if (rank == 0)
    for (int other = 0; other < size; other++) mine[other] = 1;
  else
    memset(mine, 0, sizeof mine);
  (void)from;
  BOTH(Alltoallw, alltoallw, MPI_BOTTOM, mine, none, sent, MPI_BOTTOM, ones, none, items, WORLD);
  BOTH(Bcast, bcast, MPI_BOTTOM, 1, absolute[1], 0, WORLD);
  // One item for each rank, 2.25 GiB apart.
  char *wide = spacious(), *into = spacious();
  MPI_Type_create_resized(MPI_INT, 0, FAR, &far);
  MPI_Type_commit(&far);
  for (int form = 0; form < 5; form++) {
    MPI_Request request;
    for (int other = 0; other < size; other++) {
      *(int*)(wide + FAR * other) = 100 * rank + other + form;
      *(int*)(into + FAR * other) = form < 3 ? -1 : 10 * rank + other;
      counts[other] = 1, places[other] = other;
    }
    if (form == 0) CALL(Alltoall, wide, 1, far, into, 1, far, WORLD);
    if (form == 1) CALL(Alltoallv, wide, counts, places, far, into, counts, places, far, WORLD);
    if (form == 2) {
      CALL(Ialltoall, wide, 1, far, into, 1, far, WORLD, &request);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
    }
    if (form == 3) CALL(Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, into, 1, far, WORLD);
    if (form == 4)
      CALL(Alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, into, counts, places, far,
           WORLD);
    for (int other = 0; other < size; other++) room[other] = *(int*)(into + FAR * other);
    said("far");
  }
  munmap(wide, SPACE), munmap(into, SPACE);
  MPI_Type_free(&far), MPI_Type_free(&holes), MPI_Type_free(&below);
  MPI_Type_free(&absolute[0]), MPI_Type_free(&absolute[1]);
}

/// More all-to-alls under way at a time than there are tags for.
static void outstanding(void) {
  MPI_Request* requests = malloc(many * sizeof *requests);
  int *given = malloc(4l * many * size), *got = calloc(many, 4l * size);
  for (int at = 0; at < many; at++) {
    for (int to = 0; to < size; to++) given[at * size + to] = 100 * at + 10 * rank + to;
    int* place = got + at * size;
    CALL(Ialltoall, given + at * size, 1, MPI_INT, place, 1, MPI_INT, WORLD, &requests[at]);
  }
  CALL(Waitall, many, requests, MPI_STATUSES_IGNORE);
  say_hash("all", got, 4ul * many * (size_t)size);
}

#if MPI_4
static void persistent(void) {
  MPI_Request requests[6];
  static int parts[6][64];
  CALL(Alltoall_init, data, 9, MPI_INT, parts[0], 9, MPI_INT, WORLD, MPI_INFO_NULL, &requests[0]);
  CALL(Alltoallv_init, data, counts, places, MPI_INT, parts[1], counts, places, MPI_INT, WORLD,
       MPI_INFO_NULL, &requests[1]);
  CALL(Alltoallw_init, data, counts, widths, ints, parts[2], counts, widths, ints, WORLD,
       MPI_INFO_NULL, &requests[2]);
  CALL(Allreduce_init, data, parts[3], 9, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[3]);
  CALL(Bcast_init, parts[4], 9, MPI_INT, 1, WORLD, MPI_INFO_NULL, &requests[4]);
  CALL(Barrier_init, WORLD, MPI_INFO_NULL, &requests[5]);
  for (int turn = 0; turn < 4; turn++) {
    memset(parts, 0, sizeof parts);
    for (int at = 0; at < 64; at++) data[at] = turn + 50 * rank + at, parts[4][at] = turn * rank;
    if (turn % 2) {
      CALL(Startall, 6, requests);
      CALL(Waitall, 6, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int at = 0; at < 6; at++) {
        CALL(Start, &requests[at]);
        CALL(Wait, &requests[at], MPI_STATUS_IGNORE);
      }
    }
    say_hash("turn", parts, sizeof parts);
  }
  for (int at = 0; at < 6; at++) CALL(Request_free, &requests[at]);
}
#endif

#if MPI_VERSION >= 4
/// Counts and places beyond 2^31, of few bytes.
static void large(void) {
  MPI_Datatype nothing;
  MPI_Status status;
  MPI_Count many = 3000000000, got, ones[MOST];
  MPI_Aint at[MOST];
  MPI_Request request;
  int* wide = (int*)spacious();
  int* into = (int*)spacious();
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  MOVE(0, Sendrecv_c, wide, many, nothing, (rank + 1) % size, 1, into, many, nothing,
       (rank + size - 1) % size, 1, WORLD, &status);
  MPI_Get_count_c(&status, MPI_BYTE, &got);
  say("received %lld", (long long)got);
  MOVE(0, Bcast_c, into, many, nothing, 0, WORLD);
  for (int form = 0; form < 3; form++) {
    for (int other = 0; other < size; other++) {
      ones[other] = 1, at[other] = (FAR / 4) * other;
      wide[at[other]] = 100 * rank + other + form, into[at[other]] = -1;
    }
    if (form == 0) CALL(Alltoallv_c, wide, ones, at, MPI_INT, into, ones, at, MPI_INT, WORLD);
    if (form == 1) {
      CALL(Ialltoallv_c, wide, ones, at, MPI_INT, into, ones, at, MPI_INT, WORLD, &request);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
    }
    for (int other = 0; other < size; other++) at[other] *= 4;
    if (form == 2) CALL(Alltoallw_c, wide, ones, at, ints, into, ones, at, ints, WORLD);
    for (int other = 0; other < size; other++) room[other] = into[(FAR / 4) * other];
    said("large");
  }
  CALL(Alltoall_c, data, 5, MPI_INT, room, 5, MPI_INT, WORLD);
  said("Alltoall_c");
  MPI_Type_free(&nothing);
}
#endif

int main(int argc, char** words) {
  static const theme modes[] = {{"in-place", in_place},
                                {"inter", between_groups},
                                {"neighbours", neighbours},
                                {"attributes", attributes},
                                {"types", types},
                                {"outstanding", outstanding},
#if MPI_4
                                {"persistent", persistent},
#endif
#if MPI_VERSION >= 4
                                {"large", large},
#endif
                                {0}};
  begin(&argc, &words, MPI_THREAD_SINGLE);
  fill();
  return run_all(modes, words) || end();
}
