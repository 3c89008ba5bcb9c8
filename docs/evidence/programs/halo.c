/* A halo exchange in two dimensions and a sum of all ranks after every step, as a stencil code has them.
   Usage: halo BYTES STEPS [MICROSECONDS]: bytes of an edge, and what a step computes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int bytes = atoi(argv[1]), steps = atoi(argv[2]);
  double compute = argc > 3 ? 1e-6 * atof(argv[3]) : 0;
  int size, dims[2] = {0, 0}, periods[2] = {1, 1}, n[4];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &n[0], &n[1]);
  MPI_Cart_shift(grid, 1, 1, &n[2], &n[3]);
  char *in = malloc(4 * (size_t)bytes), *out = malloc(4 * (size_t)bytes);
  memset(out, 1, 4 * (size_t)bytes);
  double sum = 0, own = 1;
  for (int step = 0; step < steps; ++step) {
    MPI_Request r[8];
    for (int i = 0; i < 4; ++i)
      MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, n[i], i, grid, &r[i]);
    for (int i = 0; i < 4; ++i)
      MPI_Isend(out + (size_t)i * bytes, bytes, MPI_BYTE, n[i], i ^ 1, grid, &r[4 + i]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    for (double end = MPI_Wtime() + compute; MPI_Wtime() < end;) own *= 1.0000001;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
  }
  MPI_Finalize();
  return sum > 0 ? 0 : 1;
}
