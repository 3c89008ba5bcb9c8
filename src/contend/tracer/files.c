// Calls on files: timed, as calls on MPI_COMM_WORLD, with nothing said of what they send.
#include "tracer.h"

#define ROUTINE(name, count)
#define FILE_ROUTINE(name, count)                                                  \
  long contend_##name(PARAMETERS_##count) {                                        \
    long (*real)(PARAMETERS_##count) =                                             \
        (long (*)(PARAMETERS_##count))contend_real[contend_routine_##name];        \
    contend_call call;                                                             \
    if (!contend_enter(&call, contend_routine_##name, __builtin_return_address(0), \
                       __builtin_frame_address(0)))                                \
      return real(ARGUMENTS_##count);                                              \
    long result = real(ARGUMENTS_##count);                                         \
    contend_leave(&call);                                                          \
    contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST); \
    contend_done();                                                                \
    return result;                                                                 \
  }
#include "routines.h"
