// Counts calls and bytes of a program, in another way than the recorder: by name, with no tables of
// handles, and asking MPI anew every time. Preloaded before the recorder, it calls PMPI, which the
// recorder records. Writes `routine NAME CALLS BYTES` and `peer RANK P2P MESSAGES COLLECTIVE
// MESSAGES ONE-SIDED OPERATIONS TAKEN OPERATIONS` to a file for each rank in the folder
// COUNTER_FOLDER. Open MPI's Fortran calls PMPI itself, so there what real programs call of it is
// counted apart.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  const char* name;
  long long calls, bytes;
} routines[200];
static long long peers[64][8];

static void add(const char* name, long long bytes) {
  int at = 0;
  while (routines[at].name && strcmp(routines[at].name, name) != 0) at++;
  routines[at].name = name;
  routines[at].calls++;
  routines[at].bytes += bytes;
}

static long long size(long long count, MPI_Datatype type) {
  int bytes = 0;
  if (count) PMPI_Type_size(type, &bytes);
  return count * bytes;
}

static int between(MPI_Comm comm) {
  int flag;
  PMPI_Comm_test_inter(comm, &flag);
  return flag;
}

static int members(MPI_Comm comm) {
  int count;
  if (between(comm))
    PMPI_Comm_remote_size(comm, &count);
  else
    PMPI_Comm_size(comm, &count);
  return count;
}

static int own(MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

static int in_world(MPI_Comm comm, int rank) {
  MPI_Group world, group;
  int result;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  if (between(comm))
    PMPI_Comm_remote_group(comm, &group);
  else
    PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &result);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return result;
}

// To a rank: kind 0 point to point, 2 collective, 4 one-sided; from it: 6.
static long long to(int kind, MPI_Comm comm, int rank, long long bytes) {
  if (rank == MPI_PROC_NULL) return 0;
  int peer = in_world(comm, rank);
  if (kind == 2 && (bytes == 0 || peer == own(MPI_COMM_WORLD))) return bytes;
  peers[peer][kind] += bytes;
  peers[peer][kind + 1]++;
  return bytes;
}

static long long to_all(MPI_Comm comm, long long bytes) {
  long long sum = 0;
  for (int rank = 0; rank < members(comm); rank++) sum += to(2, comm, rank, bytes);
  return sum;
}

static long long to_all_v(MPI_Comm comm, const int* counts, MPI_Datatype type) {
  long long sum = 0;
  for (int rank = 0; rank < members(comm); rank++)
    sum += to(2, comm, rank, size(counts[rank], type));
  return sum;
}

static long long to_all_w(MPI_Comm comm, const int* counts, const MPI_Datatype* types) {
  long long sum = 0;
  for (int rank = 0; rank < members(comm); rank++)
    sum += to(2, comm, rank, size(counts[rank], types[rank]));
  return sum;
}

static int is_root(MPI_Comm comm, int root) {
  return root == MPI_ROOT || (!between(comm) && root == own(comm));
}

static long long to_root(MPI_Comm comm, int root, long long bytes) {
  if (root >= 0) to(2, comm, root, bytes);
  return root == MPI_PROC_NULL ? 0 : bytes;
}

static int neighbours(MPI_Comm comm, int* list) {
  int topology, count = 0, in, weighted, unused[64];
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &count);
    for (int at = 0; at < count; at++)
      PMPI_Cart_shift(comm, at, 1, &list[2 * at], &list[2 * at + 1]);
    return 2 * count;
  }
  if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, own(comm), &count);
    PMPI_Graph_neighbors(comm, own(comm), count, list);
    return count;
  }
  PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
  PMPI_Dist_graph_neighbors(comm, in, unused, unused, count, list, unused);
  return count;
}

static long long to_neighbours(MPI_Comm comm, int one, const int* counts, MPI_Datatype type,
                               const MPI_Datatype* types) {
  int list[64], count = neighbours(comm, list);
  long long sum = 0;
  for (int at = 0; at < count; at++)
    sum += to(2, comm, list[at], size(counts ? counts[at] : one, types ? types[at] : type));
  return sum;
}

#define COUNTED(name, parameters, arguments, bytes) \
  int MPI_##name parameters {                       \
    int result = PMPI_##name arguments;             \
    add(#name, bytes);                              \
    return result;                                  \
  }

#define SEND(name)                                                                \
  COUNTED(name, (const void* b, int n, MPI_Datatype t, int d, int g, MPI_Comm c), \
          (b, n, t, d, g, c), to(0, c, d, size(n, t)))
#define ISEND(name)                                                                               \
  COUNTED(name, (const void* b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request* r), \
          (b, n, t, d, g, c, r), to(0, c, d, size(n, t)))
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)
COUNTED(Sendrecv,
        (const void* b, int n, MPI_Datatype t, int d, int g, void* rb, int rn, MPI_Datatype rt,
         int s, int rg, MPI_Comm c, MPI_Status* st),
        (b, n, t, d, g, rb, rn, rt, s, rg, c, st), to(0, c, d, size(n, t)))
COUNTED(Sendrecv_replace,
        (void* b, int n, MPI_Datatype t, int d, int g, int s, int rg, MPI_Comm c, MPI_Status* st),
        (b, n, t, d, g, s, rg, c, st), to(0, c, d, size(n, t)))

#define COLLECTIVE(name, lower, parameters, arguments, bytes)              \
  COUNTED(name, (OPEN parameters, MPI_Comm c), (OPEN arguments, c), bytes) \
  COUNTED(I##lower, (OPEN parameters, MPI_Comm c, MPI_Request * r), (OPEN arguments, c, r), bytes)
#define OPEN(...) __VA_ARGS__
#define IN_PLACE (b == MPI_IN_PLACE)

COUNTED(Barrier, (MPI_Comm c), (c), 0)
COUNTED(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r), 0)
COLLECTIVE(Bcast, bcast, (void* b, int n, MPI_Datatype t, int root), (b, n, t, root),
           (is_root(c, root) ? to_all(c, size(n, t)) : 0, root == MPI_PROC_NULL ? 0 : size(n, t)))
COLLECTIVE(Gather, gather,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int root),
           (b, n, t, rb, rn, rt, root),
           to_root(c, root, IN_PLACE || root == MPI_ROOT ? size(rn, rt) : size(n, t)))
COLLECTIVE(Gatherv, gatherv,
           (const void* b, int n, MPI_Datatype t, void* rb, const int* rn, const int* rd,
            MPI_Datatype rt, int root),
           (b, n, t, rb, rn, rd, rt, root),
           to_root(c, root, IN_PLACE ? size(rn[own(c)], rt) : size(n, t)))
COLLECTIVE(Scatter, scatter,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int root),
           (b, n, t, rb, rn, rt, root),
           is_root(c, root)        ? to_all(c, size(n, t))
           : root == MPI_PROC_NULL ? 0
                                   : size(rn, rt))
COLLECTIVE(Scatterv, scatterv,
           (const void* b, const int* n, const int* d, MPI_Datatype t, void* rb, int rn,
            MPI_Datatype rt, int root),
           (b, n, d, t, rb, rn, rt, root), is_root(c, root) ? to_all_v(c, n, t) : size(rn, rt))
COLLECTIVE(Allgather, allgather,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt),
           (b, n, t, rb, rn, rt), IN_PLACE ? size(rn, rt) : size(n, t))
COLLECTIVE(Allgatherv, allgatherv,
           (const void* b, int n, MPI_Datatype t, void* rb, const int* rn, const int* rd,
            MPI_Datatype rt),
           (b, n, t, rb, rn, rd, rt), IN_PLACE ? size(rn[own(c)], rt) : size(n, t))
COLLECTIVE(Alltoall, alltoall,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt),
           (b, n, t, rb, rn, rt), to_all(c, IN_PLACE ? size(rn, rt) : size(n, t)))
COLLECTIVE(Alltoallv, alltoallv,
           (const void* b, const int* n, const int* d, MPI_Datatype t, void* rb, const int* rn,
            const int* rd, MPI_Datatype rt),
           (b, n, d, t, rb, rn, rd, rt), IN_PLACE ? to_all_v(c, rn, rt) : to_all_v(c, n, t))
COLLECTIVE(Alltoallw, alltoallw,
           (const void* b, const int* n, const int* d, const MPI_Datatype* t, void* rb,
            const int* rn, const int* rd, const MPI_Datatype* rt),
           (b, n, d, t, rb, rn, rd, rt), to_all_w(c, n, t))
COLLECTIVE(Reduce, reduce, (const void* b, void* rb, int n, MPI_Datatype t, MPI_Op o, int root),
           (b, rb, n, t, o, root), to_root(c, root, size(n, t)))
#define REDUCTION(name, lower, bytes)                                                 \
  COLLECTIVE(name, lower, (const void* b, void* rb, int n, MPI_Datatype t, MPI_Op o), \
             (b, rb, n, t, o), bytes)
REDUCTION(Allreduce, allreduce, size(n, t))
REDUCTION(Scan, scan, size(n, t))
REDUCTION(Exscan, exscan, size(n, t))
REDUCTION(Reduce_scatter_block, reduce_scatter_block, members(c) * size(n, t))
COLLECTIVE(Reduce_scatter, reduce_scatter,
           (const void* b, void* rb, const int* n, MPI_Datatype t, MPI_Op o), (b, rb, n, t, o),
           (__extension__({
             long long sum = 0;
             for (int at = 0; at < members(c); at++) sum += size(n[at], t);
             sum;
           })))
COLLECTIVE(Neighbor_allgather, neighbor_allgather,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt),
           (b, n, t, rb, rn, rt), to_neighbours(c, n, NULL, t, NULL))
COLLECTIVE(Neighbor_allgatherv, neighbor_allgatherv,
           (const void* b, int n, MPI_Datatype t, void* rb, const int* rn, const int* rd,
            MPI_Datatype rt),
           (b, n, t, rb, rn, rd, rt), to_neighbours(c, n, NULL, t, NULL))
COLLECTIVE(Neighbor_alltoall, neighbor_alltoall,
           (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt),
           (b, n, t, rb, rn, rt), to_neighbours(c, n, NULL, t, NULL))
COLLECTIVE(Neighbor_alltoallv, neighbor_alltoallv,
           (const void* b, const int* n, const int* d, MPI_Datatype t, void* rb, const int* rn,
            const int* rd, MPI_Datatype rt),
           (b, n, d, t, rb, rn, rd, rt), to_neighbours(c, 0, n, t, NULL))
COLLECTIVE(Neighbor_alltoallw, neighbor_alltoallw,
           (const void* b, const int* n, const MPI_Aint* d, const MPI_Datatype* t, void* rb,
            const int* rn, const MPI_Aint* rd, const MPI_Datatype* rt),
           (b, n, d, t, rb, rn, rd, rt), to_neighbours(c, 0, n, t[0], t))

// Windows of the programs are on MPI_COMM_WORLD.
#define OPERATION(name, parameters, arguments, bytes) \
  COUNTED(name, parameters, arguments, to(4, MPI_COMM_WORLD, d, bytes))
OPERATION(Put,
          (const void* b, int n, MPI_Datatype t, int d, MPI_Aint at, int dn, MPI_Datatype dt,
           MPI_Win w),
          (b, n, t, d, at, dn, dt, w), size(n, t))
COUNTED(Get,
        (void* b, int n, MPI_Datatype t, int d, MPI_Aint at, int dn, MPI_Datatype dt, MPI_Win w),
        (b, n, t, d, at, dn, dt, w), to(6, MPI_COMM_WORLD, d, size(n, t)))
OPERATION(Accumulate,
          (const void* b, int n, MPI_Datatype t, int d, MPI_Aint at, int dn, MPI_Datatype dt,
           MPI_Op o, MPI_Win w),
          (b, n, t, d, at, dn, dt, o, w), size(n, t))
COUNTED(Get_accumulate,
        (const void* b, int n, MPI_Datatype t, void* rb, int rn, MPI_Datatype rt, int d,
         MPI_Aint at, int dn, MPI_Datatype dt, MPI_Op o, MPI_Win w),
        (b, n, t, rb, rn, rt, d, at, dn, dt, o, w),
        to(o == MPI_NO_OP ? 6 : 4, MPI_COMM_WORLD, d, size(dn, dt)))
OPERATION(Rput,
          (const void* b, int n, MPI_Datatype t, int d, MPI_Aint at, int dn, MPI_Datatype dt,
           MPI_Win w, MPI_Request* r),
          (b, n, t, d, at, dn, dt, w, r), size(n, t))
OPERATION(Fetch_and_op,
          (const void* b, void* rb, MPI_Datatype t, int d, MPI_Aint at, MPI_Op o, MPI_Win w),
          (b, rb, t, d, at, o, w), size(1, t))

static void leave(void) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%d.count", getenv("COUNTER_FOLDER"), own(MPI_COMM_WORLD));
  FILE* file = fopen(path, "w");
  for (int at = 0; routines[at].name; at++)
    fprintf(file, "routine MPI_%s %lld %lld\n", routines[at].name, routines[at].calls,
            routines[at].bytes);
  for (int rank = 0; rank < members(MPI_COMM_WORLD); rank++) {
    fprintf(file, "peer %d", rank);
    for (int at = 0; at < 8; at++) fprintf(file, " %lld", peers[rank][at]);
    fputc('\n', file);
  }
  fclose(file);
}

int MPI_Finalize(void) {
  leave();
  return PMPI_Finalize();
}

#ifdef OPEN_MPI
typedef MPI_Fint* Number;
extern int mpi_fortran_in_place_ __attribute__((weak));

#define FORTRAN(name, lower, parameters, arguments, bytes) \
  void pmpi_##lower##_ parameters __attribute__((weak));   \
  void mpi_##lower##_ parameters {                         \
    pmpi_##lower##_ arguments;                             \
    add(#name, bytes);                                     \
  }
#define COMM MPI_Comm_f2c(*c)
#define SIZE(count, type) size(count, MPI_Type_f2c(*type))
#define PLACED (b == (void*)&mpi_fortran_in_place_)

FORTRAN(Send, send, (void* b, Number n, Number t, Number d, Number g, Number c, Number e),
        (b, n, t, d, g, c, e), to(0, COMM, *d, SIZE(*n, t)))
FORTRAN(Isend, isend,
        (void* b, Number n, Number t, Number d, Number g, Number c, Number r, Number e),
        (b, n, t, d, g, c, r, e), to(0, COMM, *d, SIZE(*n, t)))
FORTRAN(Sendrecv, sendrecv,
        (void* b, Number n, Number t, Number d, Number g, void* rb, Number rn, Number rt, Number s,
         Number rg, Number c, Number st, Number e),
        (b, n, t, d, g, rb, rn, rt, s, rg, c, st, e), to(0, COMM, *d, SIZE(*n, t)))
FORTRAN(Sendrecv_replace, sendrecv_replace,
        (void* b, Number n, Number t, Number d, Number g, Number s, Number rg, Number c, Number st,
         Number e),
        (b, n, t, d, g, s, rg, c, st, e), to(0, COMM, *d, SIZE(*n, t)))
FORTRAN(Barrier, barrier, (Number c, Number e), (c, e), 0)
FORTRAN(Bcast, bcast, (void* b, Number n, Number t, Number root, Number c, Number e),
        (b, n, t, root, c, e),
        (is_root(COMM, *root) ? to_all(COMM, SIZE(*n, t)) : 0,
         *root == MPI_PROC_NULL ? 0 : SIZE(*n, t)))
FORTRAN(Reduce, reduce,
        (void* b, void* rb, Number n, Number t, Number o, Number root, Number c, Number e),
        (b, rb, n, t, o, root, c, e), to_root(COMM, *root, SIZE(*n, t)))
FORTRAN(Allreduce, allreduce, (void* b, void* rb, Number n, Number t, Number o, Number c, Number e),
        (b, rb, n, t, o, c, e), SIZE(*n, t))
FORTRAN(Gather, gather,
        (void* b, Number n, Number t, void* rb, Number rn, Number rt, Number root, Number c,
         Number e),
        (b, n, t, rb, rn, rt, root, c, e),
        to_root(COMM, *root, PLACED ? SIZE(*rn, rt) : SIZE(*n, t)))
FORTRAN(Gatherv, gatherv,
        (void* b, Number n, Number t, void* rb, Number rn, Number rd, Number rt, Number root,
         Number c, Number e),
        (b, n, t, rb, rn, rd, rt, root, c, e),
        to_root(COMM, *root, PLACED ? SIZE(rn[own(COMM)], rt) : SIZE(*n, t)))
FORTRAN(Scatterv, scatterv,
        (void* b, Number n, Number d, Number t, void* rb, Number rn, Number rt, Number root,
         Number c, Number e),
        (b, n, d, t, rb, rn, rt, root, c, e),
        is_root(COMM, *root) ? to_all_v(COMM, n, MPI_Type_f2c(*t)) : SIZE(*rn, rt))
FORTRAN(Allgather, allgather,
        (void* b, Number n, Number t, void* rb, Number rn, Number rt, Number c, Number e),
        (b, n, t, rb, rn, rt, c, e), PLACED ? SIZE(*rn, rt) : SIZE(*n, t))
FORTRAN(Allgatherv, allgatherv,
        (void* b, Number n, Number t, void* rb, Number rn, Number rd, Number rt, Number c,
         Number e),
        (b, n, t, rb, rn, rd, rt, c, e), PLACED ? SIZE(rn[own(COMM)], rt) : SIZE(*n, t))
FORTRAN(Alltoall, alltoall,
        (void* b, Number n, Number t, void* rb, Number rn, Number rt, Number c, Number e),
        (b, n, t, rb, rn, rt, c, e), to_all(COMM, PLACED ? SIZE(*rn, rt) : SIZE(*n, t)))
FORTRAN(Alltoallv, alltoallv,
        (void* b, Number n, Number d, Number t, void* rb, Number rn, Number rd, Number rt, Number c,
         Number e),
        (b, n, d, t, rb, rn, rd, rt, c, e),
        to_all_v(COMM, PLACED ? rn : n, MPI_Type_f2c(PLACED ? *rt : *t)))

void pmpi_finalize_(Number) __attribute__((weak));
void mpi_finalize_(Number e) {
  leave();
  pmpi_finalize_(e);
}
#endif
