/// Communicators, windows and files: `communicators MODE ...`, `KNOWN` as in common.h.
#include "common.h"

#define WORLD MPI_COMM_WORLD
enum { N = 32 };
static int data[64 * N], room[64 * N];

static void alltoall(MPI_Comm comm, const char* what) {
  int people;
  MPI_Request request;
  MPI_Comm_size(comm, &people);
  CALL(Alltoall, data, 6, MPI_INT, room, 6, MPI_INT, comm);
  CALL(Ialltoall, data, 3, MPI_INT, room + 6 * people, 3, MPI_INT, comm, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  if (what) say_hash(what, room, 36ul * (size_t)people);
}

/// Many made and freed, and calls on some of them.
static void freed(void) {
  MPI_Comm comm;
  for (int turn = 0; turn < many; turn++) {
    if (turn % 3)
      CALL(Comm_dup, WORLD, &comm);
    else
      CALL(Comm_split, WORLD, 0, -rank, &comm);
    if (turn % 100 == 0) alltoall(comm, turn % 500 ? NULL : "many");
    CALL(Comm_free, &comm);
  }
}

/// Many at a time: MPICH has room for 2,048.
static void live(void) {
  MPI_Comm* comms = malloc((size_t)many * sizeof *comms);
  for (int at = 0; at < many; at++) CALL(Comm_dup, WORLD, &comms[at]);
  for (int at = 0; at < many; at++) alltoall(comms[at], at % 500 ? NULL : "live");
  for (int at = 0; at < many; at++) CALL(Comm_free, &comms[at]);
}

/// Made by some ranks only, by groups, with information, and in the background.
static void groups(void) {
  MPI_Comm comm, later[5];
  MPI_Request requests[5];
  MPI_Group world, group;
  MPI_Comm_group(WORLD, &world);
  for (int out = 0; out < size; out++) {
    MPI_Group_excl(world, 1, &out, &group);
    if (rank != out) {
      CALL(Comm_create_group, WORLD, group, 3, &comm);
      alltoall(comm, "group");
      CALL(Comm_free, &comm);
    }
    CALL(Comm_create, WORLD, group, &comm);
    if (comm != MPI_COMM_NULL) {
      alltoall(comm, "create");
      CALL(Comm_free, &comm);
    }
    MPI_Group_free(&group);
  }
  MPI_Group_free(&world);
  CALL(Comm_split, WORLD, rank ? 1 : MPI_UNDEFINED, 0, &comm);
  if (comm != MPI_COMM_NULL) {
    alltoall(comm, "split");
    CALL(Comm_free, &comm);
  }
  CALL(Comm_split_type, WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm);
  alltoall(comm, "shared");
  CALL(Comm_free, &comm);
  CALL(Comm_dup_with_info, WORLD, MPI_INFO_NULL, &comm);
  alltoall(comm, "with info");
  CALL(Comm_free, &comm);
  for (int at = 0; at < 5; at++) CALL(Comm_idup, WORLD, &later[at], &requests[at]);
  CALL(Barrier, WORLD);
  CALL(Waitall, 5, requests, MPI_STATUSES_IGNORE);
  for (int at = 0; at < 5; at++) {
    alltoall(later[at], "idup");
    CALL(Comm_free, &later[at]);
  }
  alltoall(MPI_COMM_SELF, "self");
}

static int copied(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  ++*(int*)extra;
  *(void**)out = in;
  return *flag = 1, MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void* value, void* extra) {
  int one = 1, sum = 0, people;
  (void)key, (void)extra;
  MPI_Comm_size(comm, &people);
  // MPI is still there, at Finalize too.
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  say("deleted %d of %d: %d", (int)(intptr_t)value, people, sum);
  return MPI_SUCCESS;
}

static int refused(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  return *flag = 0, MPI_SUCCESS;
}

/// Attributes: copied with a communicator, refused, deleted with it or at Finalize.
static void callbacks(void) {
  static int copies;
  int keys[2], flag;
  void* value;
  MPI_Comm comm, twin, later;
  MPI_Request request;
  MPI_Comm_create_keyval(copied, deleted, &keys[0], &copies);
  MPI_Comm_create_keyval(refused, deleted, &keys[1], NULL);
  CALL(Comm_dup, WORLD, &comm);
  MPI_Comm_set_attr(comm, keys[0], (void*)1);
  MPI_Comm_set_attr(comm, keys[1], (void*)2);
  alltoall(comm, "with attributes");
  CALL(Ialltoall, data, 1, MPI_INT, room, 1, MPI_INT, comm, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  say("copies %d", copies);
  CALL(Comm_dup, comm, &twin);
  MPI_Comm_get_attr(twin, keys[1], &value, &flag);
  say("copies %d, refused %d", copies, flag);
  alltoall(twin, "twin");
  CALL(Comm_idup, comm, &later, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  alltoall(later, "later");
  say("copies %d", copies);
  CALL(Comm_free, &later);
  CALL(Comm_free, &twin);
  CALL(Comm_free, &comm);
  MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], (void*)3);
  MPI_Comm_set_attr(WORLD, keys[1], (void*)4);
  MPI_Comm_delete_attr(WORLD, keys[1]);
  MPI_Comm_free_keyval(&keys[0]);
  MPI_Comm_free_keyval(&keys[1]);
}

/// One-sided communication in each synchronisation: how a window is made and by what it is used.
static void one_sided(void) {
  int *base, next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1, got = -1, flag = 0;
  MPI_Win window;
  MPI_Request requests[3];
  MPI_Group world, to, from;
  MPI_Comm_group(WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &last, &from);
  CALL(Win_allocate, N * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &base, &window);
  memset(base, 0, N * sizeof(int));
  CALL(Win_fence, 0, window);
  MOVE(16, Put, data, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  CALL(Win_fence, 0, window);
  MOVE(12, Get, room, 3, MPI_INT, next, 0, 3, MPI_INT, window);
  MOVE(8, Accumulate, data + 5, 2, MPI_INT, next, 8, 2, MPI_INT, MPI_SUM, window);
  CALL(Win_fence, 0, window);
  say_hash("fence", base, N * sizeof(int));
  for (int turn = 0; turn < 2; turn++) {
    CALL(Win_post, from, 0, window);
    CALL(Win_start, to, 0, window);
    MOVE(16, Put, data + 1, 4, MPI_INT, next, 12 * turn, 4, MPI_INT, window);
    CALL(Win_complete, window);
    if (turn)
      for (flag = 0; !flag;) CALL(Win_test, window, &flag);
    else
      CALL(Win_wait, window);
  }
  say_hash("post and start", base, N * sizeof(int));
  CALL(Barrier, WORLD);
  for (int turn = 0; turn < 5; turn++) {
    CALL(Win_lock, MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MOVE(4, Accumulate, &one, 1, MPI_INT, 0, 20, 1, MPI_INT, MPI_SUM, window);
    CALL(Win_unlock, 0, window);
  }
  CALL(Barrier, WORLD);
  CALL(Win_lock_all, 0, window);
  MOVE(4, Fetch_and_op, &one, &got, MPI_INT, next, 24, MPI_SUM, window);
  CALL(Win_flush, next, window);
  say("fetched %d", got);
  CALL(Compare_and_swap, &rank, &got, &got, MPI_INT, next, 25, window);
  CALL(Win_flush_local, next, window);
  CALL(Rput, data, 2, MPI_INT, next, 26, 2, MPI_INT, window, &requests[0]);
  CALL(Raccumulate, data, 1, MPI_INT, next, 28, 1, MPI_INT, MPI_MAX, window, &requests[1]);
  CALL(Rget, &got, 1, MPI_INT, rank, 30, 1, MPI_INT, window, &requests[2]);
  CALL(Waitall, 3, requests, MPI_STATUSES_IGNORE);
  CALL(Get_accumulate, data, 1, MPI_INT, room, 1, MPI_INT, next, 29, 1, MPI_INT, MPI_REPLACE,
       window);
  CALL(Win_flush_all, window);
  CALL(Win_sync, window);
  CALL(Win_unlock_all, window);
  CALL(Barrier, WORLD);
  say_hash("passive", base, N * sizeof(int));
  CALL(Win_free, &window);
  CALL(Win_create, room, sizeof room, 1, MPI_INFO_NULL, WORLD, &window);
  CALL(Win_fence, 0, window);
  MOVE(4, Put, &rank, 1, MPI_INT, next, 4, 1, MPI_INT, window);
  CALL(Win_fence, 0, window);
  say("created %d", room[1]);
  CALL(Win_free, &window);
  CALL(Win_allocate_shared, 64, 1, MPI_INFO_NULL, WORLD, &base, &window);
  base[0] = 10 * rank;
  CALL(Win_fence, 0, window);
  MPI_Aint bytes;
  int unit, *there;
  MPI_Win_shared_query(window, next, &bytes, &unit, &there);
  say("shared %d", there[0]);
  CALL(Barrier, WORLD);
  CALL(Win_free, &window);
  MPI_Group_free(&world), MPI_Group_free(&to), MPI_Group_free(&from);
}

/// Files: in a row, all together, by views, split, in the background and by a shared pointer.
static void files(void) {
  const char* name = getenv("CONFORMANCE_FILE");
  MPI_File file;
  MPI_Datatype strided;
  MPI_Request request;
  MPI_Status status;
  MPI_Offset place = 16l * rank, length;
  int items;
  CALL(File_open, WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MOVE(16, File_write_at, file, place, data, 4, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &items);
  say("wrote %d", items);
  CALL(File_sync, file);
  CALL(Barrier, WORLD);
  MOVE(16, File_read_at_all, file, 16l * ((rank + 1) % size), room, 4, MPI_INT, &status);
  say_hash("read at all", room, 16);
  CALL(Barrier, WORLD);
  MOVE(16, File_write_at_all, file, place, data + 4, 4, MPI_INT, MPI_STATUS_IGNORE);
  CALL(Barrier, WORLD);
  MPI_Type_create_resized(MPI_INT, 0, 4l * size, &strided);
  MPI_Type_commit(&strided);
  CALL(File_set_view, file, 4l * rank, MPI_INT, strided, "native", MPI_INFO_NULL);
  MOVE(32, File_write_all, file, data, 8, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MOVE(32, File_read, file, room, 8, MPI_INT, &status);
  say_hash("by view", room, 32);
  CALL(File_iwrite_at, file, 8, data, 2, MPI_INT, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  CALL(File_iread_at, file, 8, room, 2, MPI_INT, &request);
  CALL(Wait, &request, MPI_STATUS_IGNORE);
  CALL(File_read_at_all_begin, file, 0, room + 2, 8, MPI_INT);
  CALL(File_read_at_all_end, file, room + 2, &status);
  say_hash("split", room, 40);
  CALL(File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_get_size(file, &length);
  say("size %ld", (long)length);
  CALL(File_seek_shared, file, 0, MPI_SEEK_SET);
  MOVE(8, File_write_ordered, file, &data[rank], 2, MPI_INT, MPI_STATUS_IGNORE);
  CALL(File_seek_shared, file, 0, MPI_SEEK_SET);
  MOVE(8, File_read_ordered, file, room, 2, MPI_INT, MPI_STATUS_IGNORE);
  say_hash("ordered", room, 8);
  CALL(File_set_size, file, 64);
  CALL(File_close, &file);
  // What is not there is an error, and files return theirs.
  int class, error = CALL(File_open, WORLD, "/nowhere/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_class(error, &class);
  say("none %d", class == MPI_ERR_NO_SUCH_FILE);
  MPI_Type_free(&strided);
}

int main(int argc, char** words) {
  static const theme modes[] = {{"many", freed},
                                {"live", live},
                                {"groups", groups},
                                {"callbacks", callbacks},
                                {"one-sided", one_sided},
                                {"files", files},
                                {0}};
  begin(&argc, &words, MPI_THREAD_SINGLE);
  for (int at = 0; at < 64 * N; at++) data[at] = 100 * rank + at;
  return run_all(modes, words) || end();
}
