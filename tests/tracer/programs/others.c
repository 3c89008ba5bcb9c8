// What else waits or copies, with the bytes that it moves; two ranks, and a folder for a file.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 1000, EACH = NUMBERS * sizeof(int) };
static int rank, numbers[2 * NUMBERS];

static void polls(void) {
  MPI_Request request;
  int flag = 0, number = 0;
  if (rank == 0) {
    MPI_Irecv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    do MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
}

static void copies(void) {
  static char packed[2 * EACH];
  int at = 0;
  MPI_Aint far = 0;
  void* gone;
  int size;
  MPI_Pack(numbers, NUMBERS, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
  at = 0;
  MPI_Unpack(packed, sizeof packed, &at, numbers, NUMBERS / 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Pack_external("external32", numbers, 10, MPI_INT, packed, sizeof packed, &far);
  far = 0;
  MPI_Unpack_external("external32", packed, sizeof packed, &far, numbers, 10, MPI_INT);
  MPI_Reduce_local(numbers, numbers + NUMBERS, 20, MPI_INT, MPI_SUM);
  char* buffer = malloc(EACH + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer, EACH + MPI_BSEND_OVERHEAD);
  MPI_Buffer_detach(&gone, &size);
  free(buffer);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Offset size;
  MPI_Request request;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * EACH, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at(file, rank * EACH, numbers, 10, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_write_at_all_begin(file, rank * EACH, numbers, 20, MPI_INT);
  MPI_File_write_at_all_end(file, numbers, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(file, &size);
  // Half of what is asked for is there.
  MPI_File_read_at(file, EACH, numbers, 2 * NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  if (size == 2 * EACH) puts("whole");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  polls();
  copies();
  files(argv[1]);
  return MPI_Finalize();
}
