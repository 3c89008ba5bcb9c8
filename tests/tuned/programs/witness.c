/* Says which of Open MPI's all-to-alls its tuned component calls: preloaded, it stands before them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef int (*call)(long, long, long, long, long, long, long, long, long, long);

#define WITNESS(name)                                                                              \
  int ompi_coll_base_alltoall_intra_##name(long a, long b, long c, long d, long e, long f, long g, \
                                           long h, long i, long j) {                               \
    static int told;                                                                               \
    if (!told++) fprintf(stderr, "witness: %s\n", #name);                                          \
    call real = (call)dlsym(RTLD_NEXT, "ompi_coll_base_alltoall_intra_" #name);                    \
    return real(a, b, c, d, e, f, g, h, i, j);                                                     \
  }

WITNESS(basic_linear)
WITNESS(pairwise)
WITNESS(bruck)
WITNESS(linear_sync)
