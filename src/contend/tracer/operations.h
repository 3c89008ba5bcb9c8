// One-sided operations with counts, included by one_sided.c for each type that counts have: COUNT
// is the type, NAMED(routine) the name. No include guard.

#define OPERATION(name, requested, parameters, arguments, bytes, takes, target)              \
  OPERATES(NAMED(name), (OPEN parameters, MPI_Win window), (OPEN arguments, window), target, \
           bytes, takes, NULL)                                                               \
  OPERATES(NAMED(requested), (OPEN parameters, MPI_Win window, MPI_Request * request),       \
           (OPEN arguments, window, request), target, bytes, takes, request)

OPERATION(Put, Rput,
          (const void* data, COUNT count, MPI_Datatype type, int target, MPI_Aint where,
           COUNT target_count, MPI_Datatype target_type),
          (data, count, type, target, where, target_count, target_type), bytes_of(count, type),
          false, target)
OPERATION(Get, Rget,
          (void* room, COUNT count, MPI_Datatype type, int target, MPI_Aint where,
           COUNT target_count, MPI_Datatype target_type),
          (room, count, type, target, where, target_count, target_type), bytes_of(count, type),
          true, target)
OPERATION(Accumulate, Raccumulate,
          (const void* data, COUNT count, MPI_Datatype type, int target, MPI_Aint where,
           COUNT target_count, MPI_Datatype target_type, MPI_Op operation),
          (data, count, type, target, where, target_count, target_type, operation),
          bytes_of(count, type), false, target)
// Without an operation nothing goes to the target but the question, else bytes go both ways.
OPERATION(Get_accumulate, Rget_accumulate,
          (const void* data, COUNT count, MPI_Datatype type, void* room, COUNT room_count,
           MPI_Datatype room_type, int target, MPI_Aint where, COUNT target_count,
           MPI_Datatype target_type, MPI_Op operation),
          (data, count, type, room, room_count, room_type, target, where, target_count, target_type,
           operation),
          bytes_of(target_count, target_type), operation == MPI_NO_OP, target)

MAKES(NAMED(Win_create),
      (void* base, MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm on, MPI_Win* window),
      (base, size, unit, info, on, window))
MAKES(NAMED(Win_allocate),
      (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm on, void* base, MPI_Win* window),
      (size, unit, info, on, base, window))
MAKES(NAMED(Win_allocate_shared),
      (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm on, void* base, MPI_Win* window),
      (size, unit, info, on, base, window))

#undef OPERATION
#undef COUNT
#undef UNIT
#undef NAMED
