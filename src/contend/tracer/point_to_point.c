// Point to point: what is sent to whom, and what arrives. Receives are counted with what arrived,
// which may be less than there was room for.
#include <string.h>

#include "handles.h"

static void note_send(const contend_call* call, int64_t count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm handle) {
  const contend_live_communicator* communicator = contend_find(handle);
  int32_t receiver = contend_world_rank(communicator, peer);
  uint64_t bytes = peer == MPI_PROC_NULL ? 0 : (uint64_t)count * contend_size_of(type);
  contend_sent(receiver, bytes);
  uint32_t cell = contend_count(call, communicator->index, bytes, bytes);
  contend_turn turn =
      contend_next(false, communicator->index, receiver, tag, call->start, call->start);
  contend_keep(call, cell, CONTEND_CALL, bytes, receiver, tag, CONTEND_NO_REQUEST, 0, turn);
}

/// Notes a call that makes a request. A send counts now, a receive when it has arrived, and what is
/// persistent when it is started.
static contend_request* note_begun_on(const contend_call* call, enum contend_request_kind kind,
                                      bool persistent, int64_t count, MPI_Datatype type, int peer,
                                      int tag, contend_live_communicator* communicator,
                                      MPI_Request handle) {
  uint64_t bytes = peer == MPI_PROC_NULL ? 0 : (uint64_t)count * contend_size_of(type);
  int32_t world_peer = contend_world_rank(communicator, peer);
  bool gives = !persistent && kind != CONTEND_RECEIVES;
  uint32_t cell = contend_count(call, communicator->index, bytes, gives ? bytes : 0);
  if (gives) contend_sent(world_peer, bytes);
  contend_turn turn = persistent ? CONTEND_NO_TURN
                                 : contend_begin(call, kind, communicator->index, world_peer, tag);
  contend_request* request = contend_new_request(handle, communicator, kind, persistent);
  // That of what an exchange receives is another.
  if (kind != CONTEND_EXCHANGES) request->turn = turn.number;
  request->bytes = bytes;
  request->cell = cell;
  request->peer = world_peer >= 0 ? world_peer : contend_awaited_peer(communicator, peer);
  request->tag = tag;
  contend_keep(call, cell, CONTEND_CALL, bytes, world_peer, tag, request->number, 0, turn);
  return request;
}

static void note_begun(const contend_call* call, enum contend_request_kind kind, bool persistent,
                       int64_t count, MPI_Datatype type, int peer, int tag, MPI_Comm handle,
                       MPI_Request request) {
  note_begun_on(call, kind, persistent, count, type, peer, tag, contend_find(handle), request);
}

#if CONTEND_MPI_4
/// Notes a request that sends and receives: the receiving half has an event of its own.
static void note_begun_exchange(const contend_call* call, int64_t count, MPI_Datatype type,
                                int peer, int tag, int source, int receive_tag, MPI_Comm handle,
                                MPI_Request request) {
  contend_live_communicator* on = contend_find(handle);
  contend_request* begun =
      note_begun_on(call, CONTEND_EXCHANGES, false, count, type, peer, tag, on, request);
  int32_t sender = contend_awaited_peer(on, source);
  if (receive_tag == MPI_ANY_TAG) receive_tag = CONTEND_ANY_TAG;
  if (begun->number != CONTEND_NO_REQUEST) {
    begun->source.peer = sender;
    begun->source.tag = receive_tag;
  }
  contend_keep(call, begun->cell, CONTEND_PART, 0, sender < 0 ? CONTEND_NO_PEER : sender,
               receive_tag, CONTEND_NO_REQUEST, 1, CONTEND_NO_TURN);
}
#endif

/// Notes that a message has arrived, or, where `taken` is false, that one is there.
/// The event begins at `since`. Of a message that was cut `bytes` had room.
static void note_arrival_on(contend_call* call, uint64_t since,
                            const contend_live_communicator* communicator, const MPI_Status* status,
                            bool taken, uint64_t bytes) {
  bool none = status->MPI_SOURCE == MPI_PROC_NULL;
  if (bytes == CONTEND_UNKNOWN_BYTES) bytes = none ? 0 : contend_received(status);
  int32_t sender = none ? CONTEND_NO_PEER : contend_world_rank(communicator, status->MPI_SOURCE);
  uint32_t cell = contend_count(call, communicator->index, taken ? bytes : 0, taken ? bytes : 0);
  call->start = since;
  contend_turn turn = CONTEND_NO_TURN;
  if (taken)
    turn = contend_next(true, communicator->index, sender, status->MPI_TAG, since, call->end);
  else if (sender >= 0)
    turn.number = contend_flow_of(true, communicator->index, sender, status->MPI_TAG)->count;
  contend_keep(call, cell, CONTEND_CALL, bytes, sender, status->MPI_TAG, CONTEND_NO_REQUEST, 0,
               turn);
}

/// Bytes that a receive of so many items had room for, if it was cut.
static inline uint64_t room_of(int result, int64_t count, MPI_Datatype type) {
  return CONTEND_LIKELY(result == MPI_SUCCESS) ? CONTEND_UNKNOWN_BYTES
                                               : (uint64_t)count * contend_size_of(type);
}

/// Notes a call that sends and receives: its cell has what it sends.
static void note_exchange(const contend_call* call, int64_t count, MPI_Datatype type, int peer,
                          int tag, MPI_Comm handle, const MPI_Status* status, uint64_t room) {
  const contend_live_communicator* communicator = contend_find(handle);
  int32_t receiver = contend_world_rank(communicator, peer);
  uint64_t bytes = peer == MPI_PROC_NULL ? 0 : (uint64_t)count * contend_size_of(type);
  contend_sent(receiver, bytes);
  uint32_t cell = contend_count(call, communicator->index, bytes, bytes);
  int32_t sender = contend_world_rank(communicator, status->MPI_SOURCE);
  contend_turn sent =
      contend_next(false, communicator->index, receiver, tag, call->start, call->start);
  contend_turn taken =
      contend_next(true, communicator->index, sender, status->MPI_TAG, call->start, call->end);
  // Both are kept, or none.
  if (taken.silence > sent.silence) sent.silence = taken.silence;
  taken.silence = sent.silence;
  contend_keep(call, cell, CONTEND_CALL, bytes, receiver, tag, CONTEND_NO_REQUEST, 0, sent);
  if (status->MPI_SOURCE == MPI_PROC_NULL) return;
  if (room == CONTEND_UNKNOWN_BYTES) room = contend_received(status);
  contend_keep(call, cell, CONTEND_PART, room, sender, status->MPI_TAG, CONTEND_NO_REQUEST, 1,
               taken);
}

// ---- matched probes: a message does not say which communicator it came over

enum { MESSAGES = 64 };
static struct {
  uint64_t key;
  contend_live_communicator* communicator;
} matched[MESSAGES];

static void remember_message(MPI_Message message, contend_live_communicator* communicator) {
  uint32_t slot = (uint32_t)((CONTEND_KEY(message) * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
  communicator->references++;
  if (matched[slot].communicator) contend_release(matched[slot].communicator);
  matched[slot].key = CONTEND_KEY(message);
  matched[slot].communicator = communicator;
}

/// The communicator of a matched message; MPI_COMM_WORLD when others have taken its place.
static contend_live_communicator* message_communicator(MPI_Message message) {
  uint32_t slot = (uint32_t)((CONTEND_KEY(message) * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
  contend_lock();
  bool known = matched[slot].communicator && matched[slot].key == CONTEND_KEY(message);
  contend_live_communicator* communicator =
      known ? matched[slot].communicator : contend_find(MPI_COMM_WORLD);
  contend_unlock();
  return communicator;
}

#define COUNT int
#define NAMED(routine) routine
#include "messages.h"
#if CONTEND_BIG_COUNTS
#define COUNT MPI_Count
#define NAMED(routine) routine##_c
#include "messages.h"
#endif

// ---- probes; one in vain is only counted

static void note_probe(contend_call* call, int result, bool there, MPI_Comm handle,
                       const MPI_Status* status) {
  contend_leave(call);
  if (result != MPI_SUCCESS) return;
  uint64_t since = contend_asked(call, there);
  if (there)
    note_arrival_on(call, since, contend_find(handle), status, false, CONTEND_UNKNOWN_BYTES);
  else
    contend_count(call, contend_find(handle)->index, 0, 0);
}

#define PROBES(name, parameters, arguments, there, message)                   \
  int contend_##name parameters {                                             \
    CONTEND_CALL_OF(name, arguments);                                         \
    contend_await_peer(CONTEND_AWAITS_SENDER, communicator, source, tag);     \
    MPI_Status own;                                                           \
    if (status == MPI_STATUS_IGNORE) status = &own;                           \
    const MPI_Message* taken = message;                                       \
    int result = REAL(name) arguments;                                        \
    bool found = result == MPI_SUCCESS && (there);                            \
    note_probe(&call, result, found, communicator, status);                   \
    if (found && taken) remember_message(*taken, contend_find(communicator)); \
    contend_done();                                                           \
    return result;                                                            \
  }

PROBES(Probe, (int source, int tag, MPI_Comm communicator, MPI_Status* status),
       (source, tag, communicator, status), true, NULL)
PROBES(Iprobe, (int source, int tag, MPI_Comm communicator, int* flag, MPI_Status* status),
       (source, tag, communicator, flag, status), *flag, NULL)
PROBES(Mprobe,
       (int source, int tag, MPI_Comm communicator, MPI_Message* message, MPI_Status* status),
       (source, tag, communicator, message, status), true, message)
PROBES(Improbe,
       (int source, int tag, MPI_Comm communicator, int* flag, MPI_Message* message,
        MPI_Status* status),
       (source, tag, communicator, flag, message, status), *flag, message)

// ---- partitioned: like persistent ones, of all their partitions

#if CONTEND_MPI_4
#define PARTITIONED(name, qualifier, kind)                                                      \
  CONTEND_RECORDS(name,                                                                         \
                  (qualifier void* data, int partitions, MPI_Count count, MPI_Datatype type,    \
                   int peer, int tag, MPI_Comm on, MPI_Info info, MPI_Request* request),        \
                  (data, partitions, count, type, peer, tag, on, info, request), (void)0,       \
                  note_begun_on(&call, kind, true, (int64_t)partitions* count, type, peer, tag, \
                                contend_find(on), *request)                                     \
                      ->collective = (uint32_t)partitions)

PARTITIONED(Psend_init, const, CONTEND_SENDS)
PARTITIONED(Precv_init, , CONTEND_RECEIVES)
#endif
