// An all-to-all through a drop-in library and the MPI library's own, in turns within one launch, so
// that what differs from launch to launch differs for neither. Prints for every pair its bytes and
// the seconds of the library's own and of the other; see cases.py. Arguments: seconds and pairs of
// every size at least, the smallest and the largest size.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*Alltoall)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);

// What a sample takes at least, by repeating the call.
static const double shortest = 0.02;

// The library's own, by the file that has a function which nothing replaces.
static Alltoall library_own(void) {
  Dl_info place;
  if (!dladdr((void*)MPI_Get_library_version, &place)) return NULL;
  void* library = dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : (Alltoall)dlsym(library, "PMPI_Alltoall");
}

static double seconds(Alltoall alltoall, void* out, void* in, int bytes, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  double took = -MPI_Wtime();
  for (int call = 0; call < calls; ++call) {
    alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  took += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took / calls;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 5) MPI_Abort(MPI_COMM_WORLD, 2);
  const double budget = atof(words[1]);
  const int pairs = atoi(words[2]), least = atoi(words[3]), most = atoi(words[4]);
  char *out = calloc(ranks, most), *in = calloc(ranks, most);
  const Alltoall ways[] = {MPI_Alltoall, library_own()};
  if (out == NULL || in == NULL || ways[1] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int bytes = least; bytes <= most; bytes *= 2) {
    const double first = seconds(ways[1], out, in, bytes, 1);
    const int calls = first < shortest ? (int)(shortest / first) + 1 : 1;
    seconds(ways[0], out, in, bytes, 1);
    // All ranks have the same times, so all end after the same pair.
    double spent = 0;
    for (int pair = 0; pair < pairs || spent < budget; ++pair) {
      double took[2];
      for (int turn = 0; turn < 2; ++turn) {
        const int own = (turn + pair) % 2;
        took[own] = seconds(ways[own], out, in, bytes, calls);
        spent += took[own] * calls;
      }
      if (rank == 0) printf("pair,%d,%.9f,%.9f\n", bytes, took[1], took[0]);
      fflush(stdout);
    }
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
