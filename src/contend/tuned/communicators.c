// Communicators that the program makes: those that the rules have sizes for are made ready at once,
// all their ranks being together, as a nonblocking call later must not wait for others.
#include "tuned.h"

#define MAKES(name, parameters, arguments, made)       \
  int contend_##name parameters {                      \
    contend_release();                                 \
    int result = REAL(name) arguments;                 \
    if (result == MPI_SUCCESS) contend_prepare(*made); \
    return result;                                     \
  }

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made), made)
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made), made)
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made), made)
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
      (comm, group, tag, made), made)
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made),
      made)
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
      (comm, type, key, info, made), made)
MAKES(Cart_create,
      (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
       MPI_Comm* made),
      (comm, dimensions, sizes, periods, reorder, made), made)
MAKES(Cart_sub, (MPI_Comm comm, const int remaining[], MPI_Comm* made), (comm, remaining, made),
      made)
MAKES(Graph_create,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made),
      (comm, nodes, index, edges, reorder, made), made)
MAKES(Dist_graph_create,
      (MPI_Comm comm, int count, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (comm, count, sources, degrees, destinations, weights, info, reorder, made), made)
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
       const int destinations[], const int destination_weights[], MPI_Info info, int reorder,
       MPI_Comm* made),
      (comm, in, sources, source_weights, out, destinations, destination_weights, info, reorder,
       made),
      made)
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm* made), (comm, high, made), made)

void contend_watch_communicators(void) {
  if (!contend_rules.nonblocking) return;
  static const enum contend_routine makers[] = {contend_routine_Comm_dup,
                                                contend_routine_Comm_dup_with_info,
                                                contend_routine_Comm_create,
                                                contend_routine_Comm_create_group,
                                                contend_routine_Comm_split,
                                                contend_routine_Comm_split_type,
                                                contend_routine_Cart_create,
                                                contend_routine_Cart_sub,
                                                contend_routine_Graph_create,
                                                contend_routine_Dist_graph_create,
                                                contend_routine_Dist_graph_create_adjacent,
                                                contend_routine_Intercomm_merge};
  for (size_t index = 0; index < sizeof makers / sizeof *makers; index++)
    contend_lead(makers[index], true);
}
