// Functions of its own that the library calls, each for 2 ms or more.
#include <mpi.h>
#include <string.h>

static void take_long(void) {
  for (double end = MPI_Wtime() + 2e-3; MPI_Wtime() < end;) continue;
}
static void add(void* in, void* sum, int* count, MPI_Datatype* type) {
  take_long();
  for (int at = 0; at < *count; at++) ((int*)sum)[at] += ((int*)in)[at];
}
static int copy(MPI_Comm on, int key, void* state, void* in, void* out, int* flag) {
  take_long();
  *flag = 0;
  return MPI_SUCCESS;
}
static int gone(MPI_Comm on, int key, void* value, void* state) { return MPI_SUCCESS; }
static void handle(MPI_Comm* on, int* error, ...) { take_long(); }
// The last one before MPI_Finalize, and longer than that takes.
static int query(void* state, MPI_Status* status) {
  for (int turn = 0; turn < 100; turn++) take_long();
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int release(void* state) { return MPI_SUCCESS; }
static int cancel(void* state, int complete) { return MPI_SUCCESS; }

int main(int argc, char** argv) {
  MPI_Op operation;
  MPI_Comm other;
  MPI_Errhandler handler;
  MPI_Request request;
  int key, one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Op_create(add, argc == 1, &operation);
  for (int turn = 0; turn < 20; turn++) MPI_Reduce_local(&one, &sum, 1, MPI_INT, operation);
  MPI_Comm_create_keyval(copy, gone, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Send(&one, 1, MPI_INT, 77, 1, MPI_COMM_WORLD);
  MPI_Grequest_start(query, release, cancel, NULL, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum != 20) MPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_Finalize();
}
