/// A wrapper of MPI_Alltoall and MPI_Isend by PMPI: compiled with -DLIBRARY it is one to be
/// preloaded, with -DOWN the program has it. `wrapped taken` takes MPI from what is loaded, and
/// `wrapped taken handle` from the library's handle, as other languages do.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "common.h"

#if defined(LIBRARY) || defined(OWN)
static int seen[2];
int MPI_Alltoall(const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g) {
  seen[0]++;
  return PMPI_Alltoall(a, b, c, d, e, f, g);
}
int MPI_Isend(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g) {
  seen[1]++;
  return PMPI_Isend(a, b, c, d, e, f, g);
}
int MPI_Finalize(void) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  say("wrapper saw %d and %d", seen[0], seen[1]);
  return PMPI_Finalize();
}
#endif

#ifndef LIBRARY
static void* handle;
#define TAKEN(name) ((__typeof__(&MPI_##name))dlsym(handle, "MPI_" #name))

int main(int argc, char** words) {
  int data[64], room[64] = {0}, given = 1, got = 0;
  MPI_Request request;
  begin(&argc, &words, MPI_THREAD_SINGLE);
  for (int at = 0; at < 64; at++) data[at] = 100 * rank + at;
  // What it takes from a handle it counts by hand, as it has no name here.
  if (argc > 1 && strcmp(words[1], "taken") == 0) {
    if (argc > 2) {
      Dl_info info;
      dladdr(dlsym(RTLD_NEXT, "MPI_Get_library_version"), &info);
      handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL);
      if (!handle) return puts(dlerror()), 3;
    } else {
      handle = RTLD_DEFAULT;
    }
    for (int turn = 0; turn < 5; turn++) {
      counted("MPI_Alltoall", -1);
      TAKEN(Alltoall)(data, 4, MPI_INT, room, 4, MPI_INT, MPI_COMM_WORLD);
      counted("MPI_Isend", 4);
      TAKEN(Isend)(&given, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
      CALL(Recv, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
    }
  } else {
    for (int turn = 0; turn < 5; turn++) {
      CALL(Alltoall, data, 4, MPI_INT, room, 4, MPI_INT, MPI_COMM_WORLD);
      MOVE(4, Isend, &given, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
      CALL(Recv, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CALL(Wait, &request, MPI_STATUS_IGNORE);
    }
  }
  say_hash("received", room, sizeof room);
  return end();
}
#endif
