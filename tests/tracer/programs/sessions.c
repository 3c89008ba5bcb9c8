/// MPI-4 sessions: `sessions MODE`.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Session session;
static int rank, size;

/// A communicator of ranks of the world from `first`, in steps.
static MPI_Comm every(int first, int step, const char* name) {
  MPI_Group world, some;
  MPI_Comm made;
  int range[1][3] = {{first, size - 1, step}};
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_range_incl(world, 1, range, &some);
  MPI_Comm_create_from_group(some, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  return made;
}

static void open_session(void) {
  MPI_Group world;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_rank(world, &rank);
  MPI_Group_size(world, &size);
  MPI_Group_free(&world);
}

static int sum(MPI_Comm comm) {
  int own = rank + 1, all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, comm);
  return all;
}

static void* of_a_library(void* file) {
  open_session();
  fclose(fopen(file, "w"));
  return NULL;
}

/// Rank 0 waits for a message while another thread of its opens a session.
static int meanwhile(char* file) {
  pthread_t other;
  MPI_Request request;
  int got = 0, own;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (own == 0) {
    MPI_Irecv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    pthread_create(&other, NULL, of_a_library, file);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    pthread_join(other, NULL);
    MPI_Session_finalize(&session);
    printf("got %d\n", got);
  } else {
    while (access(file, F_OK) != 0) sched_yield();
    got = 7;
    MPI_Send(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}

/// Rank 0 waits for what the others do not do, which end or wait for it.
static int hang(MPI_Comm all, const char* mode) {
  int got;
  MPI_Barrier(all);
  if (rank == 0 && strcmp(mode, "waits") == 0)
    MPI_Recv(&got, 1, MPI_INT, 1, 3, all, MPI_STATUS_IGNORE);
  if (rank == 0 && strcmp(mode, "makes") == 0) every(0, 1, "more");
  if (strcmp(mode, "makes") == 0) MPI_Barrier(all);
  MPI_Comm_disconnect(&all);
  return MPI_Session_finalize(&session);
}

int main(int count, char** words) {
  const char* mode = words[1];
  MPI_Comm all, half, pair;
  if (strcmp(mode, "meanwhile") == 0) {
    int level;
    MPI_Init_thread(&count, &words, MPI_THREAD_SERIALIZED, &level);
    return meanwhile(words[2]);
  }
  if (strcmp(mode, "outlives") == 0) MPI_Init(&count, &words);
  open_session();
  if (strcmp(mode, "waits") == 0 || strcmp(mode, "makes") == 0)
    return hang(every(0, 1, "all"), mode);
#ifdef OPEN_MPI
  half = every(rank % 2, 2, "half");
  all = every(0, 1, "all");
#else
  // MPICH 4.0 makes the first communicator of all ranks, or fails.
  all = every(0, 1, "all");
  half = every(rank % 2, 2, "half");
#endif
  int of_half = sum(half), of_all = sum(all);
  if (strcmp(mode, "exit") == 0) exit(6);
  // A communicator of a session's.
  MPI_Comm_split(all, rank / 2, rank, &pair);
  int next = (rank + 1) % size, data[4] = {0}, room[4];
  MPI_Sendrecv(data, 4, MPI_INT, next, 0, room, 4, MPI_INT, (rank + size - 1) % size, 0, all,
               MPI_STATUS_IGNORE);
  if (strcmp(mode, "later") == 0) {
    MPI_Init(&count, &words);
    of_all += sum(MPI_COMM_WORLD);
  }
  if (strcmp(mode, "outlives") == 0) {
    MPI_Finalize();
    of_all += sum(all);
  }
  int of_pair = sum(pair);
  MPI_Comm_free(&pair);
  MPI_Comm_disconnect(&half);
  MPI_Comm_disconnect(&all);
  MPI_Session_finalize(&session);
  if (strcmp(mode, "later") == 0) MPI_Finalize();
  printf("%d: %d %d %d\n", rank, of_half, of_all, of_pair);
  return 0;
}
