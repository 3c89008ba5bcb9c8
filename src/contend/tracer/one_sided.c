// One-sided communication: windows belong to communicators, and operations count at their origin.
#include <stdlib.h>

#include "handles.h"

#define OPEN(...) __VA_ARGS__

/// A window that the program may use.
typedef struct live_window {
  uint64_t key;  ///< handle
  contend_live_communicator* communicator;
  struct live_window* next;  ///< of those in one slot of the table
} live_window;

enum { TABLE = 64 };
static live_window* table[TABLE];

static live_window** link_to(uint64_t key) {
  live_window** link = &table[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
  while (*link && (*link)->key != key) link = &(*link)->next;
  return link;
}

/// The communicator of a window; MPI_COMM_WORLD where it is not known.
static contend_live_communicator* communicator_of(MPI_Win window) {
  const live_window* known = *link_to(CONTEND_KEY(window));
  return known ? known->communicator : contend_find(MPI_COMM_WORLD);
}

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
  return count ? (uint64_t)count * contend_size_of(type) : 0;
}

static void note_window(const contend_call* call, MPI_Comm handle, MPI_Win window) {
  contend_live_communicator* communicator = contend_find(handle);
  live_window* made = malloc(sizeof *made);
  if (made == NULL) abort();
  live_window** link = link_to(CONTEND_KEY(window));
  *made = (live_window){CONTEND_KEY(window), communicator, NULL};
  communicator->references++;
  *link = made;
  contend_note(call, communicator->index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
}

/// `takes`: bytes come from the target.
static void note_operation(const contend_call* call, MPI_Win window, int target, uint64_t bytes,
                           bool takes, const MPI_Request* request) {
  contend_live_communicator* communicator = communicator_of(window);
  int32_t peer = contend_world_rank(communicator, target);
  uint32_t number = CONTEND_NO_REQUEST;
  if (target == MPI_PROC_NULL) bytes = 0;
  if (peer >= 0) {
    contend_peer* counts = &contend.peers[peer];
    *(takes ? &counts->taken_bytes : &counts->one_sided_bytes) += bytes;
    ++*(takes ? &counts->taken_operations : &counts->one_sided_operations);
  }
  if (request)
    number = contend_new_request(*request, communicator, CONTEND_OPERATES, false)->number;
  contend_note(call, communicator->index, bytes, peer, 0, number);
}

#define COUNT int
#define UNIT int
#define NAMED(routine) routine
#include "operations.h"
#if CONTEND_BIG_COUNTS
#define COUNT MPI_Count
#define UNIT MPI_Aint
#define NAMED(routine) routine##_c
#include "operations.h"
#endif

int contend_Fetch_and_op(const void* data, void* room, MPI_Datatype type, int target,
                         MPI_Aint where, MPI_Op operation, MPI_Win window) {
  CONTEND_CALL_OF(Fetch_and_op, (data, room, type, target, where, operation, window));
  int result = REAL(Fetch_and_op)(data, room, type, target, where, operation, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    note_operation(&call, window, target, contend_size_of(type), false, NULL);
  contend_done();
  return result;
}

int contend_Compare_and_swap(const void* data, const void* compared, void* room, MPI_Datatype type,
                             int target, MPI_Aint where, MPI_Win window) {
  CONTEND_CALL_OF(Compare_and_swap, (data, compared, room, type, target, where, window));
  int result = REAL(Compare_and_swap)(data, compared, room, type, target, where, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    note_operation(&call, window, target, contend_size_of(type), false, NULL);
  contend_done();
  return result;
}

int contend_Win_create_dynamic(MPI_Info info, MPI_Comm communicator, MPI_Win* window) {
  CONTEND_CALL_OF(Win_create_dynamic, (info, communicator, window));
  int result = REAL(Win_create_dynamic)(info, communicator, window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) note_window(&call, communicator, *window);
  contend_done();
  return result;
}

int contend_Win_free(MPI_Win* window) {
  CONTEND_CALL_WITH(window, Win_free, (window));
  // Before it is freed: afterwards another thread may be given the same handle.
  contend_lock();
  contend_live_communicator* communicator = communicator_of(*window);
  uint32_t index = communicator->index;
  live_window **link = link_to(CONTEND_KEY(*window)), *gone = *link;
  if (gone) {
    *link = gone->next;
    contend_release(gone->communicator);
    free(gone);
  }
  contend_unlock();
  int result = REAL(Win_free)(window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) contend_note(&call, index, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_done();
  return result;
}

/// Notes which rank a call will wait for; -1: no single one.
static void await_target(MPI_Win window, int target) {
  contend_lock();
  const live_window* known = *link_to(CONTEND_KEY(window));
  const contend_live_communicator* on = known ? known->communicator : NULL;
  int32_t peer = target < 0 ? CONTEND_ANY_PEER : contend_awaited_peer(on, target);
  contend_await(CONTEND_AWAITS_TARGET, on, peer, CONTEND_ANY_TAG, 0);
  contend_unlock();
}

/// What orders operations is timed; `target` is the rank that it is about, if it is about one.
#define ORDERS(name, parameters, arguments, target)                                            \
  int contend_##name parameters {                                                              \
    CONTEND_CALL_OF(name, arguments);                                                          \
    await_target(window, target);                                                              \
    int result = REAL(name) arguments;                                                         \
    contend_leave(&call);                                                                      \
    if (result == MPI_SUCCESS) {                                                               \
      const contend_live_communicator* communicator = communicator_of(window);                 \
      contend_note(&call, communicator->index, 0, contend_world_rank(communicator, target), 0, \
                   CONTEND_NO_REQUEST);                                                        \
    }                                                                                          \
    contend_done();                                                                            \
    return result;                                                                             \
  }

ORDERS(Win_fence, (int assertion, MPI_Win window), (assertion, window), -1)
ORDERS(Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), -1)
ORDERS(Win_complete, (MPI_Win window), (window), -1)
ORDERS(Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window), -1)
ORDERS(Win_wait, (MPI_Win window), (window), -1)
ORDERS(Win_test, (MPI_Win window, int* flag), (window, flag), -1)
ORDERS(Win_lock, (int type, int target, int assertion, MPI_Win window),
       (type, target, assertion, window), target)
ORDERS(Win_unlock, (int target, MPI_Win window), (target, window), target)
ORDERS(Win_lock_all, (int assertion, MPI_Win window), (assertion, window), -1)
ORDERS(Win_unlock_all, (MPI_Win window), (window), -1)
ORDERS(Win_flush, (int target, MPI_Win window), (target, window), target)
ORDERS(Win_flush_local, (int target, MPI_Win window), (target, window), target)
ORDERS(Win_flush_all, (MPI_Win window), (window), -1)
ORDERS(Win_flush_local_all, (MPI_Win window), (window), -1)
ORDERS(Win_sync, (MPI_Win window), (window), -1)
