// One-sided operations with counts, included by one_sided.c for each type that counts have: COUNT
// is the type, NAMED(routine) the name. No include guard.

#define OPERATION(name, requested, parameters, arguments, bytes, takes, target)              \
  int RECORDED(NAMED(name))(OPEN parameters, MPI_Win window) {                               \
    CONTEND_CALL_OF(NAMED(name), (OPEN arguments, window));                                  \
    int result = REAL(NAMED(name))(OPEN arguments, window);                                  \
    contend_leave(&call);                                                                    \
    if (result == MPI_SUCCESS) note_operation(&call, window, target, bytes, takes, NULL);    \
    contend_done();                                                                          \
    return result;                                                                           \
  }                                                                                          \
  int RECORDED(NAMED(requested))(OPEN parameters, MPI_Win window, MPI_Request * request) {   \
    CONTEND_CALL_OF(NAMED(requested), (OPEN arguments, window, request));                    \
    int result = REAL(NAMED(requested))(OPEN arguments, window, request);                    \
    contend_leave(&call);                                                                    \
    if (result == MPI_SUCCESS) note_operation(&call, window, target, bytes, takes, request); \
    contend_done();                                                                          \
    return result;                                                                           \
  }

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

int RECORDED(NAMED(Win_create))(void* base, MPI_Aint size, UNIT unit, MPI_Info info,
                                MPI_Comm communicator, MPI_Win* window) {
  CONTEND_CALL_OF(NAMED(Win_create), (base, size, unit, info, communicator, window));
  int result = REAL(NAMED(Win_create))(base, size, unit, info, communicator, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) note_window(&call, communicator, *window);
  contend_done();
  return result;
}

int RECORDED(NAMED(Win_allocate))(MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm communicator,
                                  void* base, MPI_Win* window) {
  CONTEND_CALL_OF(NAMED(Win_allocate), (size, unit, info, communicator, base, window));
  int result = REAL(NAMED(Win_allocate))(size, unit, info, communicator, base, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) note_window(&call, communicator, *window);
  contend_done();
  return result;
}

int RECORDED(NAMED(Win_allocate_shared))(MPI_Aint size, UNIT unit, MPI_Info info,
                                         MPI_Comm communicator, void* base, MPI_Win* window) {
  CONTEND_CALL_OF(NAMED(Win_allocate_shared), (size, unit, info, communicator, base, window));
  int result = REAL(NAMED(Win_allocate_shared))(size, unit, info, communicator, base, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) note_window(&call, communicator, *window);
  contend_done();
  return result;
}

#undef OPERATION
#undef COUNT
#undef UNIT
#undef NAMED
