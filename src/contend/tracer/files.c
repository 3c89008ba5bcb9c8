// Calls on files: timed, as calls on MPI_COMM_WORLD, with the bytes that this rank reads or writes.
// What they send inside is theirs.
#include "handles.h"

enum { MOST_ARGUMENTS = 6 };
enum kind { NO_DATA, MOVES, BEGINS, SPLITS };

/// Bytes that a call asks for, by the arguments that begin with the number of items.
static uint64_t asked_for(const long* count_and_type, bool wide) {
  int64_t items = wide ? (int64_t)count_and_type[0] : (int)count_and_type[0];
  MPI_Datatype type = (MPI_Datatype)(intptr_t)count_and_type[1];
  return items > 0 ? (uint64_t)items * contend_size_of(type) : 0;
}

static bool is_wide(const char* name, size_t characters) {
  return characters > 2 && name[characters - 2] == '_' && name[characters - 1] == 'c';
}

/// Carries out a call with all arguments that there may be: those that are too many do no harm.
static long carry(enum contend_routine routine, enum kind kind, bool wide, int count, long* given,
                  void* site, void* frame) {
  long (*real)(PARAMETERS_6) = (long (*)(PARAMETERS_6))contend_real[routine];
  contend_call call;
  if (!contend_enter(&call, (uint16_t)routine, site, frame))
    return real(given[0], given[1], given[2], given[3], given[4], given[5]);
  MPI_Status own, *status = NULL;
  if (kind == MOVES) {
    status = (MPI_Status*)(intptr_t)given[count - 1];
    if (status == MPI_STATUS_IGNORE) status = &own;
    given[count - 1] = (long)(intptr_t)status;
  }
  long result = real(given[0], given[1], given[2], given[3], given[4], given[5]);
  contend_leave(&call);
  uint64_t bytes = 0;
  if ((int)result == MPI_SUCCESS && kind != NO_DATA) {
    bytes = asked_for(given + count - (kind == SPLITS ? 2 : 3), wide);
    // Less than was asked for where the file ends.
    uint64_t moved = status ? contend_received(status) : bytes;
    if (moved < bytes) bytes = moved;
  }
  contend_note(&call, CONTEND_WORLD, bytes, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_done();
  return result;
}

#define CARRIED(name, count, kind)                                                             \
  long contend_##name(PARAMETERS_##count) {                                                    \
    long given[MOST_ARGUMENTS] = {ARGUMENTS_##count};                                          \
    return carry(contend_routine_##name, kind, is_wide(#name, sizeof #name - 1), count, given, \
                 __builtin_return_address(0), __builtin_frame_address(0));                     \
  }
#define ROUTINE(name, count)
#define FILE_ROUTINE(name, count) CARRIED(name, count, NO_DATA)
#define FILE_MOVES(name, count) CARRIED(name, count, MOVES)
#define FILE_BEGINS(name, count) CARRIED(name, count, BEGINS)
#define FILE_SPLITS(name, count) CARRIED(name, count, SPLITS)
#include "routines.h"
