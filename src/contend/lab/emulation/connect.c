/* Preloaded into ranks of Open MPI that have several connections for each pair: all of them are
 * opened before anything else is sent, each by the lower rank. Where both ranks open theirs at
 * once, as an exchange makes them do, Open MPI matches them wrongly and waits for good. FLOWS is
 * their number. Short messages take connections in turn, so as many messages open all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

enum { TAG = 4077, LONG = (FLOWS * 48 + 128) << 10 };

static char nothing[LONG];

static void* real(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

static void connect_all(void) {
  int rank, ranks;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 0; other < ranks; ++other) {
    if (other < rank) {
      PMPI_Recv(nothing, LONG, MPI_CHAR, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (other > rank) {
      PMPI_Send(nothing, LONG, MPI_CHAR, other, TAG, MPI_COMM_WORLD);
    }
  }
  PMPI_Barrier(MPI_COMM_WORLD);
}

/* Fortran calls PMPI_Init, C either. */
int PMPI_Init(int* count, char*** words) {
  int (*init)(int*, char***) = (int (*)(int*, char***))real("PMPI_Init");
  const int failed = init(count, words);
  if (!failed) connect_all();
  return failed;
}

int PMPI_Init_thread(int* count, char*** words, int required, int* provided) {
  int (*init)(int*, char***, int, int*) =
      (int (*)(int*, char***, int, int*))real("PMPI_Init_thread");
  const int failed = init(count, words, required, provided);
  if (!failed) connect_all();
  return failed;
}

int MPI_Init(int* count, char*** words) { return PMPI_Init(count, words); }

int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  return PMPI_Init_thread(count, words, required, provided);
}
