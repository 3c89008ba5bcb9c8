// Programs that end in order though they made a mistake, which the first argument names; or none.
#include <mpi.h>
#include <string.h>

static int rank, room[64], more[64];
static MPI_Comm all;

static int is(const char* mode, const char* name) { return strcmp(mode, name) == 0; }

int main(int argc, char** argv) {
  const char* mode = argv[1];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  all = MPI_COMM_WORLD;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Barrier(all);
  int other = 1 - rank, least = is(mode, "less") ? 20 : 4;
  if (is(mode, "less") || is(mode, "cut")) {
    // Ten are sent; there is room for four, or for more.
    for (int round = 0; round < 3; round++) {
      if (rank == 0) MPI_Send(room, 10, MPI_INT, 1, 5, all);
      if (rank == 1) MPI_Recv(room, least, MPI_INT, 0, 5, all, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Irecv(room, least, MPI_INT, 0, 6, all, &request);
      if (rank == 0) MPI_Isend(room, 10, MPI_INT, 1, 6, all, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(room, rank ? 8 : 10, MPI_INT, other, 7, more, rank ? least : 20, MPI_INT, other, 7,
                 all, MPI_STATUS_IGNORE);
  } else if (is(mode, "unreceived")) {
    if (rank == 0) MPI_Send(room, 1, MPI_INT, 1, 5, all);
    if (rank == 0) MPI_Send(room, 2, MPI_INT, 1, 6, all);
    if (rank == 1) MPI_Recv(room, 2, MPI_INT, 0, 6, all, MPI_STATUS_IGNORE);
    // This one may take a message, and nobody looks.
    if (rank == 1) MPI_Irecv(room, 2, MPI_INT, 0, 8, all, &request);
    if (rank == 0) MPI_Send(room, 2, MPI_INT, 1, 8, all);
    if (rank == 1) MPI_Request_free(&request);
  } else if (is(mode, "amounts")) {
    for (int round = 0; round < 3; round++)
      MPI_Gather(room, rank ? 2 : 4, MPI_INT, more, 4, MPI_INT, 0, all);
    MPI_Gatherv(room, 4, MPI_INT, more, (int[]){4, 4}, (int[]){0, 8}, MPI_INT, 0, all);
  } else if (is(mode, "operations")) {
    MPI_Reduce(room, more, 4, MPI_INT, rank ? MPI_MAX : MPI_SUM, 0, all);
  } else if (is(mode, "errors")) {
    if (rank == 0)
      for (int round = 0; round < 3; round++) MPI_Send(room, 1, MPI_INT, 99, 5, all);
    MPI_Bcast(room, 1, MPI_INT, 99, all);
  } else if (is(mode, "waits")) {
    MPI_Request both[2];
    for (int tag = 0; tag < 2; tag++) {
      if (rank == 0) MPI_Isend(room, 10, MPI_INT, 1, tag, all, both + tag);
      if (rank == 1) MPI_Irecv(room, 4, MPI_INT, 0, tag, all, both + tag);
    }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else if (is(mode, "window")) {
    MPI_Win window;
    int* part;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, all, &part, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, window);
    MPI_Put(room, 1, MPI_INT, 99, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  } else if (is(mode, "file")) {
    MPI_File file;
    MPI_File_open(all, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  } else if (is(mode, "alike")) {
    // A rank without data of its own, other types of the same amount, and amounts of each its own.
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(room, rank ? 4 : 2, rank ? MPI_INT : pair, 0, all);
    MPI_Gather(rank ? room : MPI_IN_PLACE, 2, pair, more, 4, MPI_INT, 0, all);
    MPI_Gatherv(room, rank + 1, MPI_INT, more, (int[]){1, 2}, (int[]){0, 8}, MPI_INT, 0, all);
    MPI_Scatter(more, 4, MPI_INT, rank ? room : MPI_IN_PLACE, 2, pair, 0, all);
    MPI_Reduce(room, more, 0, MPI_INT, MPI_SUM, rank * 0, all);
    MPI_Alltoall(room, 1, pair, more, 2, MPI_INT, all);
  }
  MPI_Barrier(all);
  return MPI_Finalize();
}
