// Calls nearly every routine that is recorded on four ranks, and checks what it gets.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}
#define EXPECT(condition) expect(condition, #condition)

enum { N = 64 };
static int data[N], room[N];

static void point_to_point(MPI_Comm comm) {
  int next = (rank + 1) % size, last = (rank + size - 1) % size, flag, index, done, list[4];
  MPI_Status status, statuses[4];
  MPI_Request requests[4];
  MPI_Message message;
  char buffer[4096];
  void* detached;
  MPI_Buffer_attach(buffer, sizeof buffer);
  MPI_Irecv(room, N, MPI_INT, last, 1, comm, &requests[0]);
  MPI_Send(data, 3, MPI_INT, next, 1, comm);
  MPI_Wait(&requests[0], &status);
  MPI_Get_count(&status, MPI_INT, &index);
  EXPECT(index == 3 && status.MPI_SOURCE == last && status.MPI_TAG == 1);
  EXPECT(requests[0] == MPI_REQUEST_NULL);
  MPI_Bsend(data, 5, MPI_INT, next, 2, comm);
  MPI_Recv(room, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  EXPECT(status.MPI_SOURCE == last && status.MPI_TAG == 2);
  MPI_Irecv(room, N, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[0]);
  MPI_Ssend(data, 7, MPI_INT, next, 3, comm);
  do MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  while (!flag);
  for (int at = 0; at < 4; at++)
    MPI_Irecv(room + at, 1, MPI_INT, last, 10 + at, comm, &requests[at]);
  MPI_Barrier(comm);
  MPI_Rsend(data, 1, MPI_INT, next, 10, comm);
  for (int at = 1; at < 4; at++) MPI_Send(data + at, 1, MPI_INT, next, 10 + at, comm);
  MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitsome(4, requests, &done, list, MPI_STATUSES_IGNORE);
  do MPI_Testsome(4, requests, &done, list, statuses);
  while (done != MPI_UNDEFINED);
  for (int at = 0; at < 4; at++) EXPECT(room[at] == data[at]);
  for (int at = 0; at < 2; at++) MPI_Irecv(room, N, MPI_INT, last, 20 + at, comm, &requests[at]);
  MPI_Isend(data, 2, MPI_INT, next, 20, comm, &requests[2]);
  MPI_Issend(data, 9, MPI_INT, next, 21, comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Irecv(room, N, MPI_INT, last, 22, comm, &requests[0]);
  MPI_Irecv(room, N, MPI_INT, MPI_PROC_NULL, 22, comm, &requests[1]);
  MPI_Barrier(comm);
  MPI_Irsend(data, 4, MPI_INT, next, 22, comm, &requests[2]);
  MPI_Ibsend(data, 0, MPI_INT, MPI_PROC_NULL, 22, comm, &requests[3]);
  do MPI_Testall(4, requests, &flag, statuses);
  while (!flag);
  MPI_Sendrecv(data, 6, MPI_INT, next, 4, room, N, MPI_INT, last, 4, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(room, 6, MPI_INT, next, 5, last, 5, comm, &status);
  EXPECT(status.MPI_SOURCE == last);
  MPI_Isend(data, 8, MPI_INT, next, 6, comm, &requests[0]);
  MPI_Mprobe(last, 6, comm, &message, &status);
  MPI_Mrecv(room, N, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Isend(data, 8, MPI_INT, next, 7, comm, &requests[1]);
  do MPI_Improbe(MPI_ANY_SOURCE, 7, comm, &flag, &message, MPI_STATUS_IGNORE);
  while (!flag);
  MPI_Imrecv(room, N, MPI_INT, &message, &requests[2]);
  do MPI_Testany(3, requests, &index, &flag, &status);
  while (!flag || index != MPI_UNDEFINED);
  MPI_Isend(data, 1, MPI_INT, next, 8, comm, &requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Probe(last, 8, comm, MPI_STATUS_IGNORE);
  do MPI_Iprobe(last, 8, comm, &flag, &status);
  while (!flag);
  MPI_Recv(room, N, MPI_INT, last, 8, comm, MPI_STATUS_IGNORE);
  MPI_Irecv(room, 1, MPI_INT, last, 999, comm, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &flag);
  EXPECT(flag);
  MPI_Buffer_detach(&detached, &index);
}

static void persistent(MPI_Comm comm) {
  int next = (rank + 1) % size, last = (rank + size - 1) % size, flag;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Send_init(data, 11, MPI_INT, next, 30, comm, &requests[0]);
  MPI_Recv_init(room, N, MPI_INT, MPI_ANY_SOURCE, 30, comm, &requests[1]);
  MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  EXPECT(flag);
  for (int turn = 0; turn < 3; turn++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    EXPECT(statuses[1].MPI_SOURCE == last);
  }
  MPI_Start(&requests[1]);
  MPI_Start(&requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT(requests[0] != MPI_REQUEST_NULL);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void derived_types(MPI_Comm comm) {
  int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int turn = 1; turn <= 3; turn++) {
    // Freed and made anew: libraries give the same handle to types of other sizes.
    MPI_Datatype type;
    MPI_Type_vector(turn, 2, 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(data, 2, type, next, 40, room, N, MPI_INT, last, 40, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
  }
}

static void collectives(MPI_Comm comm) {
  int counts[8], displacements[8], people, own, big[8 * N] = {0};
  MPI_Datatype types[8];
  MPI_Request request;
  MPI_Comm_size(comm, &people);
  MPI_Comm_rank(comm, &own);
  for (int at = 0; at < people; at++) {
    counts[at] = at + own;
    displacements[at] = N * at;
    types[at] = MPI_INT;
  }
  int sources[8];
  for (int at = 0; at < people; at++) sources[at] = own + at;
#define BOTH(name, lower, ...)               \
  MPI_##name(__VA_ARGS__, comm);             \
  MPI_I##lower(__VA_ARGS__, comm, &request); \
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  BOTH(Bcast, bcast, room, 9, MPI_INT, 1)
  BOTH(Gather, gather, data, 2, MPI_INT, big, 2, MPI_INT, 0)
  BOTH(Gather, gather, own ? (void*)data : MPI_IN_PLACE, own ? 3 : -1,
       own ? MPI_INT : MPI_DATATYPE_NULL, big, 3, MPI_INT, 0)
  int taken[8];
  for (int at = 0; at < people; at++) taken[at] = at + 1;
  BOTH(Gatherv, gatherv, data, own + 1, MPI_INT, big, taken, displacements, MPI_INT, 1)
  BOTH(Scatter, scatter, data, 4, MPI_INT, room, 4, MPI_INT, 0)
  BOTH(Scatterv, scatterv, big, taken, displacements, MPI_INT, room, own + 1, MPI_INT, 0)
  BOTH(Allgather, allgather, data, 5, MPI_INT, big, 5, MPI_INT)
  BOTH(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, big, 5, MPI_INT)
  BOTH(Allgatherv, allgatherv, data, own + 1, MPI_INT, big, taken, displacements, MPI_INT)
  BOTH(Alltoall, alltoall, big, 6, MPI_INT, big + 4 * N, 6, MPI_INT)
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, big, 7, MPI_INT, comm);
  int out[8 * N];
  BOTH(Alltoallv, alltoallv, big, counts, displacements, MPI_INT, out, sources, displacements,
       MPI_INT)
  for (int at = 0; at < people; at++) displacements[at] *= (int)sizeof(int);
  BOTH(Alltoallw, alltoallw, big, counts, displacements, types, out, sources, displacements, types)
  BOTH(Reduce, reduce, data, room, 8, MPI_INT, MPI_SUM, 1)
  BOTH(Allreduce, allreduce, data, room, 9, MPI_INT, MPI_SUM)
  EXPECT(room[3] == people * data[3]);
  BOTH(Scan, scan, data, room, 2, MPI_INT, MPI_SUM)
  BOTH(Exscan, exscan, data, room, 2, MPI_INT, MPI_SUM)
  BOTH(Reduce_scatter_block, reduce_scatter_block, big, room, 3, MPI_INT, MPI_SUM)
  BOTH(Reduce_scatter, reduce_scatter, big, room, taken, MPI_INT, MPI_SUM)
}

static void neighbours(MPI_Comm comm, int count) {
  int counts[8], displacements[8], big[8 * N];
  MPI_Aint wide[8];
  MPI_Datatype types[8];
  MPI_Request request;
  for (int at = 0; at < count; at++) {
    counts[at] = 3;
    displacements[at] = N * at;
    wide[at] = (MPI_Aint)(N * at * (int)sizeof(int));
    types[at] = MPI_INT;
  }
  BOTH(Neighbor_allgather, neighbor_allgather, data, 2, MPI_INT, big, 2, MPI_INT)
  BOTH(Neighbor_allgatherv, neighbor_allgatherv, data, 3, MPI_INT, big, counts, displacements,
       MPI_INT)
  BOTH(Neighbor_alltoall, neighbor_alltoall, big, 2, MPI_INT, big + 4 * N, 2, MPI_INT)
  static int out[8 * N];
  BOTH(Neighbor_alltoallv, neighbor_alltoallv, big, counts, displacements, MPI_INT, out, counts,
       displacements, MPI_INT)
  BOTH(Neighbor_alltoallw, neighbor_alltoallw, big, counts, wide, types, out, counts, wide, types)
}

static void communicators(void) {
  MPI_Comm halves, copy, grid, row, graph, ring, between, merged, some, later, node;
  MPI_Group all, group;
  MPI_Request request;
  int extents[2] = {2, 2}, periods[2] = {0, 1}, remain[2] = {0, 1};
  int odd = rank % 2, partner = size - 1 - rank, next = (rank + 1) % size;
  MPI_Comm_split(MPI_COMM_WORLD, odd, -rank, &halves);
  MPI_Comm_set_name(halves, "halves");
  collectives(halves);
  MPI_Comm_dup(halves, &copy);
  MPI_Allreduce(data, room, 1, MPI_INT, MPI_SUM, copy);
  MPI_Comm_free(&copy);
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(room, 10, MPI_INT, 2, later);
  MPI_Comm_free(&later);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Barrier(node);
  MPI_Comm_free(&node);
  MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, 0, &some);
  if (some != MPI_COMM_NULL) {
    MPI_Barrier(some);
    MPI_Comm_free(&some);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  neighbours(grid, 4);
  MPI_Cart_sub(grid, remain, &row);
  MPI_Allreduce(data, room, 1, MPI_INT, MPI_SUM, row);
  int index[4] = {1, 2, 3, 4}, edges[4] = {3, 2, 1, 0};
  MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
  neighbours(graph, 1);
  int last = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  neighbours(ring, 1);
  MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, odd ? 2 : 3, 5, &between);
  int there;
  MPI_Comm_rank(halves, &there);
  MPI_Sendrecv(data, 1, MPI_INT, there, 6, room, 1, MPI_INT, there, 6, between, MPI_STATUS_IGNORE);
  MPI_Bcast(room, 12, MPI_INT, odd ? 0 : there ? MPI_PROC_NULL : MPI_ROOT, between);
  MPI_Alltoall(data, 2, MPI_INT, room, 2, MPI_INT, between);
  MPI_Intercomm_merge(between, odd, &merged);
  MPI_Bcast(room, 1, MPI_INT, 3, merged);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int members[2] = {0, 2};
  MPI_Group_incl(all, 2, members, &group);
  // Only the members call this, so that the others' count of calls is another.
  for (int turn = 0; turn < 2 && rank % 2 == 0; turn++) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &some);
    MPI_Bcast(room, 2, MPI_INT, 0, some);
    MPI_Comm_free(&some);
  }
  MPI_Comm_create(MPI_COMM_WORLD, group, &some);
  if (some != MPI_COMM_NULL) {
    MPI_Bcast(room, 3, MPI_INT, 0, some);
    MPI_Comm_free(&some);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  (void)partner;
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&halves);
}

static void one_sided(void) {
  int *base, next = (rank + 1) % size, one = 1, got;
  MPI_Win window;
  MPI_Request request;
  MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  memset(base, 0, N * sizeof(int));
  MPI_Win_fence(0, window);
  MPI_Put(data, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  MPI_Win_fence(0, window);
  EXPECT(base[3] == data[3]);
  MPI_Get(room, 3, MPI_INT, next, 0, 3, MPI_INT, window);
  MPI_Accumulate(data, 2, MPI_INT, next, 8, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock_all(0, window);
  MPI_Rput(data, 5, MPI_INT, next, 20, 5, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(next, window);
  MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 30, MPI_SUM, window);
  MPI_Win_flush_all(window);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Get(&got, 1, MPI_INT, 0, 30, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
  EXPECT(got == size);
  MPI_Win_free(&window);
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void version_4(void) {
  int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Allreduce_init(data, room, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  for (int turn = 0; turn < 2; turn++) {
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
#if !defined(OPEN_MPI)
  MPI_Psend_init(data, 4, 2, MPI_INT, next, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(room, 4, 2, MPI_INT, last, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready_range(0, 3, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Sendrecv_c(data, 6, MPI_INT, next, 4, room, N, MPI_INT, last, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Bcast_c(room, 9, MPI_INT, 1, MPI_COMM_WORLD);
#endif
  MPI_Isendrecv(data, 6, MPI_INT, next, 4, room, N, MPI_INT, last, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
#else
static void version_4(void) {}
#endif

/// Errors stay the program's own: they come back as they were, and the next call is fine.
static void errors(void) {
  int one = 1, class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int result = MPI_Send(&one, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  MPI_Error_class(result, &class);
  EXPECT(class == MPI_ERR_RANK);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int at = 0; at < N; at++) data[at] = at;
  point_to_point(MPI_COMM_WORLD);
  persistent(MPI_COMM_WORLD);
  derived_types(MPI_COMM_WORLD);
  collectives(MPI_COMM_WORLD);
  communicators();
  one_sided();
  // The counter knows nothing of these.
  if (!getenv("COUNTER_FOLDER")) {
    version_4();
    errors();
  }
  // At once: launchers put pieces of several ranks together.
  if (write(1, "all as expected\n", 16) != 16) return 1;
  return MPI_Finalize();
}
