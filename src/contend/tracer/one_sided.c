// One-sided communication: operations count at their origin. A window has a communicator of its
// own, of which MPI_Win_fence and MPI_Win_free are the collectives. Who synchronises with some of
// its members only is told by an event for each of them, and which locks this rank has by the
// record of the window's communicator.
#include <stdlib.h>

#include "handles.h"

#define OPEN(...) __VA_ARGS__

enum { ACCESS, EXPOSURE, NO_LOCK = -3 };

/// The communicator of a window; MPI_COMM_WORLD where it is not known.
static contend_live_communicator* communicator_of(MPI_Win window) {
  contend_live_communicator* known = contend_look_up(CONTEND_KEY(window));
  return known ? known : contend_find(MPI_COMM_WORLD);
}

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
  return count ? (uint64_t)count * contend_size_of(type) : 0;
}

/// Where the record has a lock of this rank's by its target, or room for one by NO_LOCK; or NULL.
static int32_t* lock_on(const contend_live_communicator* on, int32_t peer) {
  if (on == NULL || on->kind != CONTEND_WINDOW || on->index == CONTEND_OTHERS) return NULL;
  int32_t* locks = contend.communicators[on->index].extent;
  for (int index = 0; index < 8; index++)
    if (locks[index] / 2 == contend_lock_of(peer, 0) / 2) return &locks[index];
  return NULL;
}

/// Whether a lock that this rank has of a target is exclusive, as `contend_awaited` has it.
static int32_t has_lock(const contend_live_communicator* on, int32_t peer) {
  const int32_t* lock = lock_on(on, peer);
  if (lock == NULL) lock = lock_on(on, CONTEND_ANY_PEER);
  return lock ? *lock & 1 : CONTEND_ANY_TAG;
}

/// Writes a lock, or 0 for none, in the place of what is `there`.
static void set_lock(const contend_live_communicator* on, int32_t there, int32_t lock) {
  int32_t* place = lock_on(on, there);
  if (place)
    *place = lock;
  else if (on->index != CONTEND_OTHERS)
    contend.communicators[on->index].dimensions += lock ? 1 : UINT32_MAX;
}

/// Notes which rank a call will wait for; -1: no single one. `wanted` says of a lock that is asked
/// for whether it is exclusive.
static void await_target(MPI_Win window, int target, int32_t wanted) {
  contend_lock();
  const contend_live_communicator* on = contend_look_up(CONTEND_KEY(window));
  int32_t peer = target < 0 ? CONTEND_ANY_PEER : contend_awaited_peer(on, target);
  contend_await(CONTEND_AWAITS_TARGET, on, peer, CONTEND_ANY_TAG, 0);
  contend_this_thread.under_way->awaited[0].tag =
      wanted == CONTEND_ANY_TAG ? has_lock(on, peer) : wanted;
  contend_unlock();
}

/// What calls of a routine tell a rank, or all (below 0), by the window is a flow of its own.
static contend_turn turn_of(const contend_call* call, const contend_live_communicator* on,
                            int32_t peer, bool counts) {
  bool asks = call->routine == contend_routine_Win_test;
  int32_t flow = -2 - (asks ? contend_routine_Win_wait : call->routine);
  if (peer < 0) peer = contend.header->size;
  if (counts) return contend_next(false, on->index, peer, flow, call->start, call->start);
  uint64_t last = contend_flow_of(false, on->index, peer, flow)->last;
  return (contend_turn){CONTEND_NO_NUMBER, call->start > last ? call->start - last : 0};
}

/// Whether an operation brings back what it finds.
static inline bool reads(uint16_t routine) {
  switch (routine) {
    case contend_routine_Get:
    case contend_routine_Rget:
    case contend_routine_Get_accumulate:
    case contend_routine_Rget_accumulate:
    case contend_routine_Fetch_and_op:
    case contend_routine_Compare_and_swap:
      return true;
    default:
      return false;
  }
}

/// `takes`: bytes come from the target.
static void note_operation(const contend_call* call, MPI_Win window, int target, MPI_Aint where,
                           uint64_t bytes, bool takes, const MPI_Request* handle) {
  contend_live_communicator* communicator = communicator_of(window);
  int32_t peer = contend_world_rank(communicator, target);
  uint32_t number = CONTEND_NO_REQUEST;
  if (target == MPI_PROC_NULL) bytes = 0;
  if (peer >= 0) {
    contend_peer* counts = &contend.peers[peer];
    *(takes ? &counts->taken_bytes : &counts->one_sided_bytes) += bytes;
    ++*(takes ? &counts->taken_operations : &counts->one_sided_operations);
  }
  if (handle) {
    contend_request* request = contend_new_request(*handle, communicator, CONTEND_OPERATES, false);
    request->peer = peer;
    request->tag = has_lock(communicator, peer);
    number = request->number;
  }
  uint64_t before = contend_events_so_far();
  if (reads(call->routine)) contend_read(call, (uint64_t)where);
  contend_note(call, communicator->index, bytes, peer, 0, number);
  if (reads(call->routine)) contend_read_on(call, communicator->index, before);
}

#define OPERATES(name, parameters, arguments, target, bytes, takes, request)                  \
  CONTEND_RECORDS(name, parameters, arguments, await_target(window, target, CONTEND_ANY_TAG), \
                  note_operation(&call, window, target, where, bytes, takes, request))
#define MAKES(name, parameters, arguments)                                \
  CONTEND_RECORDS(name, parameters, arguments, contend_await_members(on), \
                  contend_add_window(&call, on, CONTEND_KEY(*window)))

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

OPERATES(Fetch_and_op,
         (const void* data, void* room, MPI_Datatype type, int target, MPI_Aint where,
          MPI_Op operation, MPI_Win window),
         (data, room, type, target, where, operation, window), target, contend_size_of(type), false,
         NULL)
OPERATES(Compare_and_swap,
         (const void* data, const void* compared, void* room, MPI_Datatype type, int target,
          MPI_Aint where, MPI_Win window),
         (data, compared, room, type, target, where, window), target, contend_size_of(type), false,
         NULL)
MAKES(Win_create_dynamic, (MPI_Info info, MPI_Comm on, MPI_Win* window), (info, on, window))

/// Notes that a call will wait for all members of a window.
static void await_all(MPI_Win window) {
  contend_lock();
  contend_await_collective(contend_look_up(CONTEND_KEY(window)),
                           (contend_shape){CONTEND_NO_PEER, 0, CONTEND_UNKNOWN_BYTES});
  contend_unlock();
}

int contend_Win_free(MPI_Win* window) {
  CONTEND_CALL_WITH(window, Win_free, (window));
  await_all(*window);
  contend_lock();
  contend_live_communicator* on = communicator_of(*window);
  on->references++;
  contend_forget(CONTEND_KEY(*window));
  contend_unlock();
  int result = REAL(Win_free)(window);
  contend_leave(&call);
  if (result == MPI_SUCCESS) contend_note_together(&call, on);
  contend_release(on);
  contend_done();
  return result;
}

CONTEND_RECORDS(Win_fence, (int assertion, MPI_Win window), (assertion, window), await_all(window),
                contend_note_together(&call, communicator_of(window)))

// ---- what orders operations between some ranks: `epoch` is theirs

/// Begins an epoch with the ranks of a group.
static void begin_epoch(MPI_Win window, MPI_Group group, int epoch) {
  contend_live_communicator* on = contend_look_up(CONTEND_KEY(window));
  if (on == NULL || group == MPI_GROUP_NULL) return;
  free(on->epochs[epoch]);
  on->epochs[epoch] = contend_ranks_of(group, &on->epoch_sizes[epoch]);
}

/// Notes that a call will wait for each of these ranks.
static void await_epoch(MPI_Win window, int epoch, enum contend_awaited_kind kind) {
  contend_lock();
  const contend_live_communicator* on = contend_look_up(CONTEND_KEY(window));
  int32_t count = on ? on->epoch_sizes[epoch] : 0;
  for (int32_t index = 0; index < count && index < CONTEND_AWAITED; index++)
    contend_await_at((uint32_t)index, kind, on, on->epochs[epoch][index], CONTEND_ANY_TAG, 0);
  contend_this_thread.under_way->count = (uint32_t)count;
  contend_unlock();
}

/// Notes a call that all of these ranks are told of, or that has heard of all of them, unless it
/// was a question that was not `answered`.
static void note_epoch(contend_call* call, MPI_Win window, int epoch, const int* answered) {
  const contend_live_communicator* on = communicator_of(window);
  int32_t count = on->epoch_sizes[epoch];
  uint64_t since = answered ? contend_asked(call, *answered) : call->start;
  uint32_t cell = contend_count(call, on->index, 0, 0);
  if (answered && !*answered) return;
  call->start = since;
  // All of it is kept, or nothing.
  contend_turn turn = CONTEND_NO_TURN;
  for (int32_t index = 0; index < count; index++) {
    uint64_t silence = turn_of(call, on, on->epochs[epoch][index], false).silence;
    if (silence > turn.silence) turn.silence = silence;
  }
  contend_keep(call, cell, CONTEND_CALL, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST, 0, turn);
  for (int32_t index = 0; index < count; index++) {
    turn.number = turn_of(call, on, on->epochs[epoch][index], true).number;
    contend_keep(call, cell, CONTEND_PART, 0, on->epochs[epoch][index], 0, CONTEND_NO_REQUEST, 0,
                 turn);
  }
}

#define SYNCHRONISES(name, parameters, arguments, before, epoch, flag) \
  CONTEND_RECORDS(name, parameters, arguments, before, note_epoch(&call, window, epoch, flag))

SYNCHRONISES(Win_start, (MPI_Group group, int assertion, MPI_Win window),
             (group, assertion, window),
             (begin_epoch(window, group, ACCESS), await_epoch(window, ACCESS, CONTEND_AWAITS_POST)),
             ACCESS, NULL)
SYNCHRONISES(Win_complete, (MPI_Win window), (window),
             await_epoch(window, ACCESS, CONTEND_AWAITS_POST), ACCESS, NULL)
SYNCHRONISES(Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window),
             begin_epoch(window, group, EXPOSURE), EXPOSURE, NULL)
SYNCHRONISES(Win_wait, (MPI_Win window), (window),
             await_epoch(window, EXPOSURE, CONTEND_AWAITS_COMPLETE), EXPOSURE, NULL)
SYNCHRONISES(Win_test, (MPI_Win window, int* flag), (window, flag),
             await_epoch(window, EXPOSURE, CONTEND_AWAITS_COMPLETE), EXPOSURE, flag)

// ---- what orders operations on one target, or on all of them (-1), by locks

/// Notes a call on the lock of a target: `wanted` where it asks for one, and where it ends `over`.
static void note_order(const contend_call* call, MPI_Win window, int target, int32_t wanted,
                       bool over) {
  const contend_live_communicator* on = communicator_of(window);
  int32_t peer = target < 0 ? CONTEND_ANY_PEER : contend_awaited_peer(on, target);
  int32_t had = wanted == CONTEND_ANY_TAG ? has_lock(on, peer) : wanted;
  if (wanted != CONTEND_ANY_TAG) set_lock(on, NO_LOCK, contend_lock_of(peer, wanted));
  if (over) set_lock(on, peer, 0);
  uint32_t cell = contend_count(call, on->index, 0, 0);
  uint64_t before = contend_events_so_far();
  // Memory is read without a call.
  if (call->routine == contend_routine_Win_sync &&
      (!contend_reads_on(on->index, before) ||
       contend_this_thread.under_way->asked == contend_routine_Win_sync))
    contend_read(call, 0);
  contend_keep(call, cell, CONTEND_CALL, 0, peer < 0 ? CONTEND_NO_PEER : peer, had,
               CONTEND_NO_REQUEST, 0, over ? turn_of(call, on, peer, true) : CONTEND_NO_TURN);
  contend_read_on(call, on->index, before);
}

#define ORDERS(name, parameters, arguments, target, wanted, over)                    \
  CONTEND_RECORDS(name, parameters, arguments, await_target(window, target, wanted), \
                  note_order(&call, window, target, wanted, over))
#define FLUSHES(name, parameters, arguments, target) \
  ORDERS(name, parameters, arguments, target, CONTEND_ANY_TAG, false)

ORDERS(Win_lock, (int type, int target, int assertion, MPI_Win window),
       (type, target, assertion, window), target, type == MPI_LOCK_EXCLUSIVE ? 1 : 0, false)
ORDERS(Win_unlock, (int target, MPI_Win window), (target, window), target, CONTEND_ANY_TAG, true)
ORDERS(Win_lock_all, (int assertion, MPI_Win window), (assertion, window), -1, 0, false)
ORDERS(Win_unlock_all, (MPI_Win window), (window), -1, CONTEND_ANY_TAG, true)
FLUSHES(Win_flush, (int target, MPI_Win window), (target, window), target)
FLUSHES(Win_flush_local, (int target, MPI_Win window), (target, window), target)
FLUSHES(Win_flush_all, (MPI_Win window), (window), -1)
FLUSHES(Win_flush_local_all, (MPI_Win window), (window), -1)
FLUSHES(Win_sync, (MPI_Win window), (window), -1)
