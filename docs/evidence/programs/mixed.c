/* Programs that no width was taken from: mixed MODE BYTES TIMES MICROSECONDS (slept between steps).
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void rest(double seconds) {
  struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (long)seconds))};
  if (seconds > 0) nanosleep(&t, NULL);
}

#define W MPI_COMM_WORLD
#define NONE MPI_STATUS_IGNORE

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me, n;
  MPI_Comm_rank(W, &me);
  MPI_Comm_size(W, &n);
  const char* mode = argv[1];
  int bytes = atoi(argv[2]), times = atoi(argv[3]);
  double pause = 1e-6 * atoi(argv[4]);
  size_t all = (size_t)bytes * (n > 128 ? n : 128) + 64;
  char *out = calloc(all, 1), *in = calloc(all, 1);
  int next = (me + 1) % n, last = (me + n - 1) % n, wide = 1;
  while (wide * wide < n) wide *= 2;
  MPI_Request q[1024];
  MPI_Comm row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  if (!strcmp(mode, "rowcolumn")) {
    MPI_Comm_split(W, me / wide, me, &row);
    MPI_Comm_split(W, me % wide, me, &column);
  }
  for (int i = 0; i < times; i++) {
    if (!strcmp(mode, "pipeline")) { /* items go from rank to rank, worked on in each */
      if (me > 0) MPI_Recv(in, bytes, MPI_BYTE, me - 1, 1, W, NONE);
      rest(pause);
      if (me < n - 1) MPI_Send(in, bytes, MPI_BYTE, me + 1, 1, W);
    } else if (!strcmp(mode, "pingpong")) { /* across the halves, many times */
      int other = (me + n / 2) % n;
      if (me < n / 2) {
        MPI_Send(out, bytes, MPI_BYTE, other, 1, W);
        MPI_Recv(in, bytes, MPI_BYTE, other, 1, W, NONE);
      } else {
        MPI_Recv(in, bytes, MPI_BYTE, other, 1, W, NONE);
        MPI_Send(out, bytes, MPI_BYTE, other, 1, W);
      }
    } else if (!strcmp(mode, "shower")) { /* a hundred small ones to everybody's third neighbour */
      for (int k = 0; k < 100; k++)
        MPI_Irecv(in + k * bytes, bytes, MPI_BYTE, (me + n - 3) % n, k, W, q + k);
      for (int k = 0; k < 100; k++)
        MPI_Isend(out, bytes, MPI_BYTE, (me + 3) % n, k, W, q + 100 + k);
      MPI_Waitall(200, q, MPI_STATUSES_IGNORE);
      rest(pause);
    } else if (!strcmp(mode, "line")) { /* one-dimensional halo without ends, both sides in turn */
      int up = me + 1 < n ? me + 1 : MPI_PROC_NULL, down = me ? me - 1 : MPI_PROC_NULL;
      MPI_Sendrecv(out, bytes, MPI_BYTE, up, 1, in, bytes, MPI_BYTE, down, 1, W, NONE);
      MPI_Sendrecv(out, bytes, MPI_BYTE, down, 2, in, bytes, MPI_BYTE, up, 2, W, NONE);
      rest(pause);
    } else if (!strcmp(mode, "uneven")) { /* an exchange in which rank r sends r + 1 parts */
      int sc[64], sd[64], rc[64], rd[64];
      for (int r = 0; r < n; r++) {
        sc[r] = bytes * (me + 1) / n, rc[r] = bytes * (r + 1) / n;
        sd[r] = rd[r] = bytes * r;
      }
      MPI_Alltoallv(out, sc, sd, MPI_BYTE, in, rc, rd, MPI_BYTE, W);
      rest(pause);
    } else if (!strcmp(mode, "solver")) { /* neighbours, then two sums of a number, as in CG */
      MPI_Irecv(in, bytes, MPI_BYTE, last, 1, W, q);
      MPI_Irecv(in + bytes, bytes, MPI_BYTE, next, 2, W, q + 1);
      MPI_Isend(out, bytes, MPI_BYTE, next, 1, W, q + 2);
      MPI_Isend(out, bytes, MPI_BYTE, last, 2, W, q + 3);
      MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
      rest(pause);
      double a = 1, b;
      MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, W);
      MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, W);
    } else if (!strcmp(mode, "workers")) { /* a master hands out tasks to whoever asks */
      if (me == 0) {
        for (int k = 0; k < n - 1; k++) {
          MPI_Status s;
          MPI_Recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, W, &s);
          MPI_Send(out, bytes, MPI_BYTE, s.MPI_SOURCE, 2, W);
        }
      } else {
        MPI_Send(out, 8, MPI_BYTE, 0, 1, W);
        MPI_Recv(in, bytes, MPI_BYTE, 0, 2, W, NONE);
        rest(pause * (1 + me % 3));
      }
    } else if (!strcmp(mode, "trees")) { /* from the root to all, and their sum back */
      MPI_Bcast(out, bytes, MPI_BYTE, 0, W);
      rest(pause);
      MPI_Reduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, W);
    } else if (!strcmp(mode, "butterfly")) { /* partners at 1, 2, 4, ... */
      for (int step = 1; step < n; step *= 2)
        MPI_Sendrecv(out, bytes, MPI_BYTE, me ^ step, 1, in, bytes, MPI_BYTE, me ^ step, 1, W,
                     NONE);
      rest(pause);
    } else if (!strcmp(mode, "rowcolumn")) { /* gather in rows, exchange in columns */
      MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, row);
      MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, column);
      rest(pause);
    } else if (!strcmp(mode, "overlap")) { /* a transfer behind computation */
      int to = (me + n / 2 + 1) % n, from = (me + n / 2 - 1) % n;
      MPI_Irecv(in, bytes, MPI_BYTE, from, 1, W, q);
      MPI_Isend(out, bytes, MPI_BYTE, to, 1, W, q + 1);
      rest(pause);
      MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    } else if (!strcmp(mode, "unequal")) { /* who is late changes, all meet, then a ring */
      rest((i + me) % n == 0 ? 4 * pause : pause);
      MPI_Barrier(W);
      MPI_Sendrecv(out, bytes, MPI_BYTE, next, 1, in, bytes, MPI_BYTE, last, 1, W, NONE);
    } else if (!strcmp(mode, "stream")) { /* ten large ones one after the other, one way, to the
                                             mirrored rank */
      int other = n - 1 - me;
      for (int k = 0; k < 10; k++)
        if (me < n / 2)
          MPI_Send(out, bytes, MPI_BYTE, other, k, W);
        else
          MPI_Recv(in, bytes, MPI_BYTE, other, k, W, NONE);
      MPI_Barrier(W);
    } else if (!strcmp(mode, "scattergather")) {
      MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, W);
      rest(pause);
      MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, W);
    } else
      MPI_Abort(W, 2);
  }
  MPI_Finalize();
  return 0;
}
