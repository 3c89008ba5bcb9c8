/// How processes come together: `dynamic MODE`.
#include <pthread.h>
#include <unistd.h>

#include "common.h"

static int data[256], room[256];

static void alltoall(MPI_Comm comm, const char* what) {
  int people, own;
  MPI_Comm_size(comm, &people);
  MPI_Comm_rank(comm, &own);
  for (int at = 0; at < 256; at++) data[at] = 1000 * own + at;
  for (int turn = 0; turn < 3; turn++) CALL(Alltoall, data, 4, MPI_INT, room, 4, MPI_INT, comm);
  char line[64];
  snprintf(line, sizeof line, "%s, %d of %d,", what, own, people);
  say_hash(line, room, sizeof room);
}

#if MPI_4
/// Each library here crashes in UCX where a session begins after all others have ended.
static void open_session(const char* tag, const char* within) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  alltoall(comm, tag);
  if (within) open_session(within, NULL);
  alltoall(comm, tag);
  MPI_Group_free(&group);
  MPI_Comm_disconnect(&comm);
  MPI_Session_finalize(&session);
}
#endif

#if MPI_4
static MPI_Comm others;

static void* receive(void* kept) {
  CALL(Recv, kept, 1, MPI_INT, 1, 7, others, MPI_STATUS_IGNORE);
  return NULL;
}

/// A thread of a session's is in a call, and what another begins beside it goes on all the same.
static void beside_a_thread(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Info info;
  MPI_Request request;
  pthread_t thread;
  int got = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "beside", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &others);
  MPI_Group_free(&group);
  if (rank == 0) pthread_create(&thread, NULL, receive, &got);
  // The thread is in its call by then.
  if (rank == 0) usleep(300000);
  CALL(Ialltoall, data, 4, MPI_INT, room, 4, MPI_INT, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    pthread_join(thread, NULL);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
  } else {
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    CALL(Send, &rank, 1, MPI_INT, 0, 7, others);
  }
  say_hash(got == 1 || rank ? "beside a thread" : "nothing came", room, sizeof room);
  MPI_Comm_disconnect(&others);
  MPI_Session_finalize(&session);
}
#endif

static void spawn(char* program) {
  MPI_Comm parent, between, merged;
  int child;
  MPI_Comm_get_parent(&parent);
  child = parent != MPI_COMM_NULL;
  if (child)
    between = parent;
  else
    CALL(Comm_spawn, program, (char*[]){"spawn", NULL}, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
         &between, MPI_ERRCODES_IGNORE);
  CALL(Intercomm_merge, between, child, &merged);
  MPI_Comm_rank(merged, &rank);
  alltoall(merged, child ? "child" : "parent");
  // The children's own world.
  alltoall(MPI_COMM_WORLD, child ? "children" : "parents");
  CALL(Comm_free, &merged);
  CALL(Comm_disconnect, &between);
}

/// Halves of the world that meet by a port.
static void connect_halves(void) {
  MPI_Comm half, between;
  char port[MPI_MAX_PORT_NAME] = "";
  int side = rank % 2;
  CALL(Comm_split, MPI_COMM_WORLD, side, rank, &half);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  CALL(Bcast, port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (side)
    CALL(Comm_connect, port, MPI_INFO_NULL, 0, half, &between);
  else
    CALL(Comm_accept, port, MPI_INFO_NULL, 0, half, &between);
  alltoall(half, "half");
  CALL(Alltoall, data, 2, MPI_INT, room, 2, MPI_INT, between);
  say_hash("between", room, sizeof room);
  CALL(Comm_disconnect, &between);
  if (rank == 0) MPI_Close_port(port);
  CALL(Comm_free, &half);
}

int main(int argc, char** words) {
  const char* mode = words[1];
#if MPI_4
  if (strncmp(mode, "session", 7) == 0) {
    open_session("first", strcmp(mode, "sessions") == 0 ? "second" : NULL);
    tell_known();
    say("done");
    return 0;
  }
#endif
  begin(&argc, &words, MPI_THREAD_SINGLE);
  alltoall(MPI_COMM_WORLD, mode);
#if MPI_4
  if (strcmp(mode, "both") == 0) open_session("beside", NULL);
  if (strcmp(mode, "thread") == 0) beside_a_thread();
#endif
  if (strcmp(mode, "spawn") == 0) spawn(words[0]);
  if (strcmp(mode, "connect") == 0) connect_halves();
  return end();
}
