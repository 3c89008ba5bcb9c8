// Calls on files: timed, with the bytes that this rank reads or writes. What they send inside is
// theirs. A file is known like a communicator: by whom it was opened, and by how many collective
// calls of it this rank has left (MPI 4.1, section 14.1 ff.: what says that it is collective).
#include <string.h>

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

/// Whether all that have opened a file make a call of it together, in the same order.
static bool is_collective(const char* name) {
  static const char* const others[] = {"close",       "set_view", "set_info",    "set_atomicity",
                                       "preallocate", "set_size", "seek_shared", "sync"};
  name += strlen("File_");
  for (size_t index = 0; index < sizeof others / sizeof *others; index++)
    if (strncmp(name, others[index], strlen(others[index])) == 0) return true;
  return strstr(name, "_all") || strstr(name, "_ordered");
}

/// Carries out a call with all arguments that there may be: those that are too many do no harm.
static long carry(enum contend_routine routine, const char* name, enum kind kind, int count,
                  long* given, void* site, void* frame) {
  long (*real)(PARAMETERS_6) = (long (*)(PARAMETERS_6))contend_real[routine];
  contend_call call;
  if (!contend_enter(&call, (uint16_t)routine, site, frame))
    return real(given[0], given[1], given[2], given[3], given[4], given[5]);
  bool opens = routine == contend_routine_File_open, together = is_collective(name);
  MPI_Comm communicator = (MPI_Comm)(intptr_t)given[0];
  bool closes = routine == contend_routine_File_close;
  uint32_t index = CONTEND_WORLD;
  if (opens) {
    contend_await_members(communicator);
  } else if (routine != contend_routine_File_delete) {
    uint64_t file = (uint64_t)(closes ? *(long*)given[0] : given[0]);
    contend_lock();
    contend_live_communicator* live = contend_look_up(file);
    if (live) index = live->index;
    if (together)
      contend_await_collective(live, (contend_shape){CONTEND_NO_PEER, 0, CONTEND_UNKNOWN_BYTES});
    if (closes && live) contend_forget(file);
    contend_unlock();
  }
  MPI_Status own, *status = NULL;
  if (kind == MOVES) {
    status = (MPI_Status*)(intptr_t)given[count - 1];
    if (status == MPI_STATUS_IGNORE) status = &own;
    given[count - 1] = (long)(intptr_t)status;
  }
  long result = real(given[0], given[1], given[2], given[3], given[4], given[5]);
#ifndef OPEN_MPI
  if ((int)result != MPI_SUCCESS) contend_note_error((int)result);
#endif
  contend_leave(&call);
  uint64_t bytes = 0;
  if ((int)result == MPI_SUCCESS && kind != NO_DATA) {
    bytes = asked_for(given + count - (kind == SPLITS ? 2 : 3), is_wide(name, strlen(name)));
    // Less than was asked for where the file ends.
    uint64_t moved = status ? contend_received(status) : bytes;
    if (moved < bytes) bytes = moved;
  }
  if (opens && (int)result == MPI_SUCCESS) {
    contend_add_file(&call, communicator, (uint64_t)*(long*)given[4]);
  } else {
    bool counts = together && (int)result == MPI_SUCCESS && index > CONTEND_OTHERS;
    if (counts) contend.communicators[index].collectives++;
    contend_note(&call, index, bytes, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  }
  contend_done();
  return result;
}

#define CARRIED(name, count, kind)                                                               \
  long contend_##name(PARAMETERS_##count) {                                                      \
    long given[MOST_ARGUMENTS] = {ARGUMENTS_##count};                                            \
    return carry(contend_routine_##name, #name, kind, count, given, __builtin_return_address(0), \
                 __builtin_frame_address(0));                                                    \
  }
#define ROUTINE(name, count)
#define FILE_ROUTINE(name, count) CARRIED(name, count, NO_DATA)
#define FILE_MOVES(name, count) CARRIED(name, count, MOVES)
#define FILE_BEGINS(name, count) CARRIED(name, count, BEGINS)
#define FILE_SPLITS(name, count) CARRIED(name, count, SPLITS)
#include "routines.h"
