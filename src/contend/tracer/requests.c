// Requests: what each one is of, so that its completion tells what has arrived.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handles.h"

// The table's size is bounded; requests beyond it are counted.
enum { CAPACITY = 1 << 16, SLOTS = 1 << 16, LINE = 64 };

static contend_request* requests;  // the first one is never used: 0 is no request
static uint16_t* slots;
static uint32_t first_free, unused = 1;
static uint32_t last_number;
static uint32_t receiving;  // requests that may receive; calls look at it without the lock

bool contend_start_requests(void) {
  requests = aligned_alloc(LINE, CAPACITY * sizeof *requests);
  slots = calloc(SLOTS, sizeof *slots);
  if (requests == NULL || slots == NULL) return false;
  requests[0] = (contend_request){0};
  return true;
}

static uint16_t* slot_of(uint64_t key) {
  return &slots[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

/// The link to a request in its slot's chain; it leads to 0 when the handle is not known. Libraries
/// give one handle to all requests that are complete at once: then it is the latest.
static inline uint16_t* link_to(uint64_t key) {
  uint16_t* link = slot_of(key);
  while (*link && requests[*link].key != key) link = &requests[*link].next;
  return link;
}

/// Who waits for a request claims it before the library is asked: afterwards another thread may be
/// given the same handle. Without other threads nothing is claimed, and the handle tells.
static void claim(const MPI_Request* handles, int count, uint32_t* claims) {
  if (!contend.locked) return;
  contend_lock();
  for (int index = 0; index < count; index++) {
    uint64_t key = CONTEND_KEY(handles[index]);
    // Many may have one handle: the search goes on where the one before was found.
    bool again = index && claims[index - 1] && handles[index] == handles[index - 1];
    uint32_t found = again ? requests[claims[index - 1]].next : *slot_of(key);
    while (found && (requests[found].key != key || requests[found].claimed))
      found = requests[found].next;
    claims[index] = found;
    requests[found].claimed = found != 0;
  }
  contend_unlock();
}

/// Likewise of one request, whose claim stays in a register where there are no other threads.
static __attribute__((noinline)) uint32_t claim_among_threads(const MPI_Request* handle) {
  uint32_t claimed;
  claim(handle, 1, &claimed);
  return claimed;
}

static inline uint32_t claim_one(const MPI_Request* handle) {
  return CONTEND_LIKELY(!contend.locked) ? 0 : claim_among_threads(handle);
}

/// Gives up claims, those of requests that are gone too.
static void give_up(const uint32_t* claims, int count) {
  if (!contend.locked) return;
  for (int index = 0; index < count; index++) requests[claims[index]].claimed = false;
}

/// The link to a request that was claimed.
static inline uint16_t* claimed_link(uint64_t key, uint32_t claimed) {
  if (!contend.locked) return link_to(key);
  uint16_t* link = slot_of(key);
  while (*link && *link != claimed) link = &requests[*link].next;
  return link;
}

static bool receives(const contend_request* request) {
  return request->kind == CONTEND_RECEIVES || request->kind == CONTEND_EXCHANGES;
}

static inline void count_receiving(uint32_t more) {
  __atomic_store_n(&receiving, receiving + more, __ATOMIC_RELAXED);
}

contend_request* contend_new_request(MPI_Request handle, contend_live_communicator* communicator,
                                     enum contend_request_kind kind, bool persistent) {
  static contend_request beyond;
  uint32_t index = first_free;
  if (CONTEND_LIKELY(index)) {
    first_free = requests[index].next;
  } else if (unused < CAPACITY) {
    index = unused++;
  } else {
    contend.header->requests_lost++;
    free(beyond.parts);
    beyond = (contend_request){0};
    return &beyond;
  }
  contend_request* request = &requests[index];
  request->key = CONTEND_KEY(handle);
  request->communicator = communicator;
  communicator->references++;
  request->kind = (uint8_t)kind;
  request->persistent = persistent;
  request->number = persistent ? CONTEND_NO_REQUEST : ++last_number;
  request->cell = CONTEND_NONE;
  request->cancelled = request->claimed = false;
  request->peer = CONTEND_NO_PEER;
  request->collective = kind == CONTEND_COLLECTIVE ? contend_so_far(communicator) : 0;
  request->tag = 0;
  request->turn = CONTEND_NO_NUMBER;
  request->bytes = 0;
  request->parts = NULL;
  request->part_count = 0;
  request->parts_are_events = false;
  count_receiving(receives(request));
  uint16_t* slot = slot_of(request->key);
  request->next = *slot;
  *slot = (uint16_t)index;
  return request;
}

static void forget(uint16_t* link) {
  uint32_t index = *link;
  contend_request* request = &requests[index];
  *link = request->next;
  count_receiving(-(uint32_t)receives(request));
  if (request->kind == CONTEND_COLLECTIVE) free(request->parts);
  contend_release(request->communicator);
  request->next = (uint16_t)first_free;
  first_free = index;
}

void contend_add_parts(const contend_call* call, uint32_t cell, const contend_part* parts,
                       uint32_t count, bool as_events) {
  for (uint32_t index = 0; index < count; index++) {
    const contend_part* part = &parts[index];
    if (part->peer >= 0 && part->peer != contend.header->rank) {
      contend.peers[part->peer].collective_bytes += part->bytes;
      contend.peers[part->peer].collective_messages++;
    }
    if (as_events)
      contend_keep(call, cell, CONTEND_PART, part->bytes, part->peer, 0, CONTEND_NO_REQUEST, 0,
                   CONTEND_NO_TURN);
  }
}

/// The communicator that a call on one request is counted on.
static inline uint32_t communicator_of_one(MPI_Request handle, uint32_t claimed) {
  uint32_t known = *claimed_link(CONTEND_KEY(handle), claimed);
  return CONTEND_LIKELY(known) ? requests[known].communicator->index : CONTEND_WORLD;
}

/// Likewise of several: that of the first one that is known. `claims` may be NULL.
static uint32_t communicator_of(const MPI_Request* handles, int count, const uint32_t* claims) {
  for (int index = 0; index < count; index++) {
    uint64_t key = CONTEND_KEY(handles[index]);
    uint32_t known = claims ? *claimed_link(key, claims[index]) : *link_to(key);
    if (known) return requests[known].communicator->index;
  }
  return CONTEND_WORLD;
}

/// Notes what a call on requests waits for; gives the communicator that it is counted on. The
/// program's own handles tell: what the library has just written there is not at hand as fast in a
/// copy.
static uint32_t await(const MPI_Request* handles, int count, const uint32_t* claims) {
  contend_under_way* under_way = contend_this_thread.under_way;
  uint32_t awaited = 0, first = 0;
  contend_lock();
  for (int index = 0; index < count && awaited < CONTEND_AWAITED; index++) {
    uint32_t known = *claimed_link(CONTEND_KEY(handles[index]), claims[index]);
    const contend_request* request = &requests[known];
    if (first == 0) first = known;
    if (known == 0 && handles[index] != MPI_REQUEST_NULL)
      under_way->awaited[awaited++] = contend_awaited_of(CONTEND_AWAITS_UNKNOWN, CONTEND_OTHERS,
                                                         CONTEND_NO_PEER, CONTEND_ANY_TAG, 0);
    // One that is complete, or a persistent one that is not under way.
    if (request->number == CONTEND_NO_REQUEST) continue;
    bool both = request->kind == CONTEND_EXCHANGES && awaited + 1 < CONTEND_AWAITED;
    if (both)
      under_way->awaited[awaited++] =
          contend_awaited_of(CONTEND_AWAITS_SENDER, request->communicator->index,
                             request->source.peer, request->source.tag, 0);
    contend_awaited* thing = &under_way->awaited[awaited++];
    *thing = contend_awaited_of(both ? CONTEND_AWAITS_RECEIVER : request->kind,
                                request->communicator->index, request->peer, request->tag,
                                request->collective);
    if (request->part_count && request->parts == NULL) {
      thing->kind = CONTEND_AWAITS_READY;
      thing->number = request->collective - request->part_count;
      thing->bytes = request->collective;
    }
    if (request->kind == CONTEND_COLLECTIVE) {
      thing->routine = request->routine;
      // That of a persistent one is what this rank gives.
      if (!request->persistent) thing->bytes = request->bytes;
    }
  }
  under_way->count = awaited;
  uint32_t communicator = CONTEND_LIKELY(first) ? requests[first].communicator->index
                                                : communicator_of(handles, count, claims);
  contend_unlock();
  return communicator;
}

static uint32_t role_of(const contend_request* request) {
  return request->kind == CONTEND_COLLECTIVE ? 2 : receives(request);
}

/// A request is complete. Its status says what has arrived, of which the room for it may have `cut`
/// some; NULL when it failed.
static void complete(const contend_call* call, uint32_t cell, MPI_Request handle, uint32_t claimed,
                     const MPI_Status* status, bool cut) {
  uint16_t* link = claimed_link(CONTEND_KEY(handle), claimed);
  if (*link == 0) return;
  contend_request* request = &requests[*link];
  // A persistent one that is not under way is complete at any time.
  if (request->persistent && request->number == CONTEND_NO_REQUEST) return;
  uint64_t bytes = request->bytes;
  int32_t peer = request->peer < 0 ? CONTEND_NO_PEER : request->peer, tag = request->tag;
  contend_turn turn = {request->turn, 0};
  if (request->kind == CONTEND_COLLECTIVE) turn.number = request->collective;
  if (receives(request) && status) {
    int cancelled = 0;
    if (request->cancelled) {
      int (*ask)(const MPI_Status*, int*) =
          (int (*)(const MPI_Status*, int*))contend_symbol("PMPI_Test_cancelled");
      ask(status, &cancelled);
    }
    peer = contend_world_rank(request->communicator, status->MPI_SOURCE);
    tag = status->MPI_TAG;
    bool none = cancelled || status->MPI_SOURCE == MPI_PROC_NULL;
    if (!cut || none) bytes = none ? 0 : contend_received(status);
    bool both = request->kind == CONTEND_EXCHANGES && request->source.peer >= 0;
    bool same_tag = request->source.tag == CONTEND_ANY_TAG || request->source.tag == tag;
    if (both && (peer != request->source.peer || !same_tag)) {
      // MPICH's status does not tell of what such a request receives.
      peer = request->source.peer;
      if (!same_tag) tag = request->source.tag;
      bytes = 0;
    }
    if (request->kind == CONTEND_RECEIVES && request->cell != CONTEND_NONE)
      contend.cells[request->cell].bytes += bytes;
    if (turn.number == CONTEND_NO_NUMBER && !cancelled)
      turn.number =
          contend_next(true, request->communicator->index, peer, tag, 0, call->end).number;
  }
  if (status)
    contend_keep(call, request->cell == CONTEND_NONE ? cell : request->cell, CONTEND_COMPLETION,
                 bytes, peer, tag, request->number, role_of(request), turn);
  if (request->persistent) {
    request->number = CONTEND_NO_REQUEST;
    request->cancelled = false;
  } else {
    forget(link);
  }
}

/// Room for what calls on many requests need beside what the program gave them.
static CONTEND_OF_THREAD MPI_Request* handles_room;
static CONTEND_OF_THREAD MPI_Status* statuses_room;
static CONTEND_OF_THREAD uint32_t* claims_room;
static CONTEND_OF_THREAD int room;

static __attribute__((noinline)) void make_room(int count) {
  int wanted = count < 64 ? 64 : 2 * count;
  free(handles_room);
  free(statuses_room);
  free(claims_room);
  handles_room = malloc((size_t)wanted * sizeof *handles_room);
  statuses_room = malloc((size_t)wanted * sizeof *statuses_room);
  // Zeros claim nothing: while this thread waits, another one's session may end its being alone.
  claims_room = calloc((size_t)wanted, sizeof *claims_room);
  if (handles_room == NULL || statuses_room == NULL || claims_room == NULL) abort();
  room = wanted;
}

/// The handles as they are before a call: the library overwrites those that are complete. They are
/// claimed.
static inline const MPI_Request* copied(const MPI_Request* handles, int count) {
  if (!CONTEND_LIKELY(count <= room && room)) make_room(count);
  MPI_Request* copies = handles_room;
  if (count > 2) {
    memcpy(copies, handles, (size_t)count * sizeof *handles);
  } else if (count > 0) {
    // Most often a message there and one back, for which a call of memcpy takes longer.
    copies[0] = handles[0];
    copies[count - 1] = handles[count - 1];
  }
  claim(handles, count, claims_room);
  return copies;
}

/// The program's statuses, or own ones where it wants none but the record does.
static MPI_Status* statuses_for(MPI_Status* wanted) {
  bool needed = __atomic_load_n(&receiving, __ATOMIC_RELAXED) != 0;
  return wanted == MPI_STATUSES_IGNORE && needed ? statuses_room : wanted;
}

static MPI_Status* status_for(MPI_Status* wanted, MPI_Status* own) {
  return wanted == MPI_STATUS_IGNORE ? own : wanted;
}

static const MPI_Status no_status = {0};

/// A thread that asks again at once waits between its questions too: after a pause of so many times
/// what the question before took, or of a quarter of what it has waited. After one of far more
/// times it did as well, if most of the pause it had no processor: it slept, or another had its
/// turn. Else it computed.
enum { AT_ONCE = 8, PART_OF_WAIT = 4, FAR_MORE = 256 };
static CONTEND_OF_THREAD struct {
  uint64_t since, until, last;  ///< of questions in vain: the first, the last one's end and time
  uint64_t events;              ///< that there were when the last one was asked
  uint32_t cell;                ///< of the last one
  uint64_t site;                ///< likewise, and the first thing that it asked for
  contend_awaited thing;
  bool mixed;          ///< whether they asked for different things
  uint64_t read;       ///< when both of these were read last
  int64_t wall, used;  ///< nanoseconds, and those on a processor
} polling;

static int64_t nanoseconds(clockid_t clock) {
  struct timespec at;
  return clock_gettime(clock, &at) ? 0 : at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

/// Whether the thread was without a processor for most of the pause before this instant. The kernel
/// is asked for it, which takes many times what a question takes: not more often than every 50
/// microseconds, and what is missed is no longer than that.
static bool was_idle(uint64_t pause, uint64_t instant) {
  if (polling.read && instant - polling.read < contend.reading_gap / 2048) return false;
  int64_t wall = nanoseconds(CLOCK_MONOTONIC), used = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  double whole = (double)(wall - polling.wall), idle = whole - (double)(used - polling.used);
  double paused = whole * (double)pause / (double)(instant - polling.read + 1);
  bool was = polling.read && idle >= 0.75 * paused;
  polling.read = instant;
  polling.wall = wall;
  polling.used = used;
  return was;
}

/// The end of `contend_asked`: `again` where the thread has waited since the question before.
static inline uint64_t settle(contend_call* call, bool answered, bool again) {
  uint64_t events = contend_events_so_far(), own = call->end - call->start;
  // What else the thread called meanwhile is no waiting for an answer.
  if (events != polling.events) again = false;
  uint64_t since = again ? polling.since : call->start;
  if (again) call->start = polling.until;
  polling.since = since;
  polling.until = answered ? 0 : call->end;
  contend_under_way* under_way = contend_this_thread.under_way;
  if (!answered) {
    bool same = under_way->asked == call->routine && polling.site == call->site &&
                memcmp(&polling.thing, under_way->awaited, sizeof polling.thing) == 0;
    polling.mixed = again && (polling.mixed || !same);
    under_way->asked_for = polling.mixed ? 0 : under_way->count;
    under_way->asking = since;
    under_way->asked_left = call->end;
    under_way->asked = call->routine;
    polling.site = call->site;
    polling.thing = under_way->awaited[0];
  }
  polling.last = own;
  polling.events = events;
  return since;
}

/// Apart, so that a question that comes at once has few registers to save.
static __attribute__((noinline)) uint64_t asked_later(contend_call* call, bool answered) {
  bool again = was_idle(call->start - polling.until, call->start) && polling.until;
  return settle(call, answered, again);
}

static inline uint64_t asked(contend_call* call, bool answered) {
  uint64_t pause = call->start - polling.until;
  bool again = polling.until && (pause <= AT_ONCE * polling.last ||
                                 pause <= (polling.until - polling.since) / PART_OF_WAIT);
  if (!again && (polling.until ? pause > FAR_MORE * polling.last : !answered))
    return asked_later(call, answered);
  return settle(call, answered, again);
}

uint64_t contend_asked(contend_call* call, bool answered) { return asked(call, answered); }

void contend_read(const contend_call* call, uint64_t where) {
  contend_under_way* under_way = contend_this_thread.under_way;
  contend_call question = *call;
  under_way->awaited[0].bytes = where;
  bool same = under_way->asked == call->routine && polling.site == call->site &&
              memcmp(&polling.thing, under_way->awaited, sizeof polling.thing) == 0;
  if (!same) polling.until = 0;
  // Once is no question.
  if (asked(&question, false) == call->start) under_way->asking = 0;
}

bool contend_reads_on(uint32_t communicator, uint64_t before) {
  return polling.until && polling.events == before && polling.thing.kind == CONTEND_AWAITS_TARGET &&
         polling.thing.communicator == communicator;
}

void contend_read_on(const contend_call* call, uint32_t communicator, uint64_t before) {
  if (!contend_reads_on(communicator, before)) return;
  polling.events = contend_events_so_far();
  polling.last += call->end - polling.until;
  polling.until = call->end;
  contend_this_thread.under_way->asked_left = call->end;
  contend_this_thread.under_way->site = polling.site;
}

/// The cell of a question in vain. Who polls asks again at the same place.
static inline uint32_t cell_of_question(const contend_call* call, uint32_t communicator) {
  const contend_cell* cell = &contend.cells[polling.cell];
  if (!CONTEND_LIKELY(contend_is_cell_of(cell, call, communicator, 0)))
    polling.cell = contend_cell_of(call, communicator, 0);
  return polling.cell;
}

/// Counts a call that completes requests; its event too, unless it is a test in vain.
static inline uint32_t begin(contend_call* call, uint32_t communicator, bool as_event) {
  if (!as_event) {
    uint64_t since = asked(call, false);
    uint32_t cell = cell_of_question(call, communicator);
    contend_count_in(call, cell, 0);
    call->start = since;
    return cell;
  }
  // Most calls that are answered at once have asked nothing in vain before.
  bool answers = polling.until && !contend_reads_on(communicator, contend_events_so_far());
  uint64_t since = answers ? contend_asked(call, true) : call->start;
  uint32_t cell = contend_count(call, communicator, 0, 0);
  call->start = since;
  contend_keep(call, cell, CONTEND_CALL, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST, 0,
               CONTEND_NO_TURN);
  return cell;
}

/// Notes a call on one request, or on the one of several that it chose.
static inline void note_one(contend_call* call, int result, uint32_t communicator, bool done,
                            MPI_Request before, MPI_Request after, uint32_t claimed,
                            const MPI_Status* status) {
  if (contend_took_place(result)) {
    uint64_t events = contend_events_so_far();
    uint32_t cell = begin(call, communicator, done);
    if (done) complete(call, cell, before, claimed, status, result != MPI_SUCCESS);
    if (done && polling.until) contend_read_on(call, communicator, events);
  } else if (before != after) {
    complete(call, CONTEND_NONE, before, claimed, NULL, false);
  }
}

static inline bool are_there(const MPI_Request* handles, int count) {
  return handles || count <= 0;
}

int contend_Wait(MPI_Request* request, MPI_Status* status) {
  CONTEND_CALL_WITH(request, Wait, (request, status));
  MPI_Request before = *request;
  uint32_t claimed = claim_one(request);
  uint32_t communicator = await(&before, 1, &claimed);
  MPI_Status own, *given = status_for(status, &own);
  int result = REAL(Wait)(request, given);
  contend_leave(&call);
  note_one(&call, result, communicator, true, before, *request, claimed, given);
  give_up(&claimed, 1);
  contend_done();
  return result;
}

int contend_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  CONTEND_CALL_WITH(request, Test, (request, flag, status));
  MPI_Request before = *request;
  uint32_t claimed = claim_one(request);
  uint32_t communicator = await(&before, 1, &claimed);
  MPI_Status own, *given = status_for(status, &own);
  int result = REAL(Test)(request, flag, given);
  contend_leave(&call);
  bool done = result == MPI_SUCCESS ? *flag : contend_was_cut(result);
  note_one(&call, result, communicator, done, before, *request, claimed, given);
  give_up(&claimed, 1);
  contend_done();
  return result;
}

/// Notes a question that completes no request.
static void note_asked(contend_call* call, uint32_t communicator, int answered, uint32_t claimed) {
  contend_asked(call, answered);
  contend_count(call, communicator, 0, 0);
  give_up(&claimed, 1);
}
#define ASKED(request) \
  uint32_t claimed = claim_one(request), communicator = await(request, 1, &claimed)

/// It does not complete its request, but programs poll with it.
CONTEND_RECORDS(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status),
                (request, flag, status), ASKED(&request),
                note_asked(&call, communicator, *flag, claimed))

int contend_Waitany(int count, MPI_Request requests_given[], int* index, MPI_Status* status) {
  CONTEND_CALL_WITH(are_there(requests_given, count) && index, Waitany,
                    (count, requests_given, index, status));
  const MPI_Request* before = copied(requests_given, count);
  await(requests_given, count, claims_room);
  MPI_Status own, *given = status_for(status, &own);
  int result = REAL(Waitany)(count, requests_given, index, given);
  bool chosen = *index != MPI_UNDEFINED && *index >= 0 && *index < count;
  MPI_Request one = chosen ? before[*index] : MPI_REQUEST_NULL;
  contend_leave(&call);
  uint32_t claimed = chosen ? claims_room[*index] : 0;
  note_one(&call, result, communicator_of_one(one, claimed), chosen, one,
           chosen ? requests_given[*index] : one, claimed, given);
  give_up(claims_room, count);
  contend_done();
  return result;
}

int contend_Testany(int count, MPI_Request requests_given[], int* index, int* flag,
                    MPI_Status* status) {
  CONTEND_CALL_WITH(are_there(requests_given, count), Testany,
                    (count, requests_given, index, flag, status));
  const MPI_Request* before = copied(requests_given, count);
  await(requests_given, count, claims_room);
  MPI_Status own, *given = status_for(status, &own);
  int result = REAL(Testany)(count, requests_given, index, flag, given);
  bool chosen = result == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED;
  MPI_Request one = chosen ? before[*index] : MPI_REQUEST_NULL;
  contend_leave(&call);
  uint32_t claimed = chosen ? claims_room[*index] : 0;
  note_one(&call, result, communicator_of_one(one, claimed), chosen, one, one, claimed, given);
  give_up(claims_room, count);
  contend_done();
  return result;
}

/// Notes a call on all of several requests.
static void note_all(contend_call* call, int result, uint32_t communicator, bool done, int count,
                     const MPI_Request* before, const MPI_Request* after,
                     const MPI_Status* statuses) {
  if (result == MPI_SUCCESS) {
    uint32_t cell = begin(call, communicator, done);
    bool told = statuses != MPI_STATUSES_IGNORE;
    for (int index = 0; done && index < count; index++)
      complete(call, cell, before[index], claims_room[index], told ? &statuses[index] : &no_status,
               false);
  } else {
    for (int index = 0; index < count; index++)
      if (before[index] != after[index])
        complete(call, CONTEND_NONE, before[index], claims_room[index], NULL, false);
  }
  give_up(claims_room, count);
  contend_done();
}

int contend_Waitall(int count, MPI_Request requests_given[], MPI_Status statuses[]) {
  CONTEND_CALL_WITH(are_there(requests_given, count), Waitall, (count, requests_given, statuses));
  const MPI_Request* before = copied(requests_given, count);
  uint32_t communicator = await(requests_given, count, claims_room);
  MPI_Status* given = statuses_for(statuses);
  int result = REAL(Waitall)(count, requests_given, given);
  contend_leave(&call);
  note_all(&call, result, communicator, true, count, before, requests_given, given);
  return result;
}

int contend_Testall(int count, MPI_Request requests_given[], int* flag, MPI_Status statuses[]) {
  CONTEND_CALL_WITH(are_there(requests_given, count), Testall,
                    (count, requests_given, flag, statuses));
  const MPI_Request* before = copied(requests_given, count);
  await(requests_given, count, claims_room);
  MPI_Status* given = statuses_for(statuses);
  int result = REAL(Testall)(count, requests_given, flag, given);
  contend_leave(&call);
  note_all(&call, result, communicator_of(before, count, claims_room),
           result == MPI_SUCCESS && *flag, count, before, requests_given, given);
  return result;
}

/// Notes a call on some of several requests, those whose indexes it gave.
static void note_some(contend_call* call, int result, int count, int done, const int* indexes,
                      const MPI_Request* before, const MPI_Request* after,
                      const MPI_Status* statuses) {
  contend_leave(call);
  if (result == MPI_SUCCESS) {
    bool any = done != MPI_UNDEFINED && done > 0;
    uint32_t cell = begin(call, communicator_of(before, count, claims_room), any);
    bool told = statuses != MPI_STATUSES_IGNORE;
    for (int index = 0; any && index < done; index++)
      complete(call, cell, before[indexes[index]], claims_room[indexes[index]],
               told ? &statuses[index] : &no_status, false);
  } else {
    for (int index = 0; index < count; index++)
      if (before[index] != after[index])
        complete(call, CONTEND_NONE, before[index], claims_room[index], NULL, false);
  }
  give_up(claims_room, count);
  contend_done();
}

#define SOME(name)                                                                      \
  int contend_##name(int count, MPI_Request requests_given[], int* done, int indexes[], \
                     MPI_Status statuses[]) {                                           \
    CONTEND_CALL_WITH(are_there(requests_given, count) && done, name,                   \
                      (count, requests_given, done, indexes, statuses));                \
    const MPI_Request* before = copied(requests_given, count);                          \
    MPI_Status* given = statuses_for(statuses);                                         \
    await(requests_given, count, claims_room);                                          \
    int result = REAL(name)(count, requests_given, done, indexes, given);               \
    note_some(&call, result, count, *done, indexes, before, requests_given, given);     \
    return result;                                                                      \
  }

SOME(Waitsome)
SOME(Testsome)

// ---- persistent requests

/// Counts what a persistent request sends, now that it is under way.
static void start(const contend_call* call, uint32_t cell, contend_request* request,
                  enum contend_event_kind kind) {
  request->number = ++last_number;
  request->cell = cell;
  if (request->kind == CONTEND_SENDS) contend_sent(request->peer, request->bytes);
  int32_t peer = request->peer < 0 ? CONTEND_NO_PEER : request->peer;
  // What is sent in partitions is under way when the last of them is marked as ready.
  bool later = request->kind == CONTEND_SENDS && request->collective;
  if (later) request->part_count = request->collective;
  contend_turn turn = CONTEND_NO_TURN;
  if (!later && request->kind != CONTEND_COLLECTIVE)
    turn = contend_begin(call, request->kind, request->communicator->index, peer, request->tag);
  if (request->kind != CONTEND_COLLECTIVE) request->turn = turn.number;
  contend_keep(call, cell, kind, request->bytes, later ? CONTEND_NO_PEER : peer, request->tag,
               later ? CONTEND_NO_REQUEST : request->number, role_of(request), turn);
  if (request->parts)
    contend_add_parts(call, cell, request->parts, request->part_count, request->parts_are_events);
}

static uint64_t bytes_given(const contend_request* request) {
  return request->kind == CONTEND_RECEIVES ? 0 : request->bytes;
}

int contend_Start(MPI_Request* handle) {
  CONTEND_CALL_WITH(handle, Start, (handle));
  int result = REAL(Start)(handle);
  contend_leave(&call);
  uint32_t index = *link_to(CONTEND_KEY(*handle));
  if (result == MPI_SUCCESS && index) {
    contend_request* request = &requests[index];
    uint32_t cell =
        contend_count(&call, request->communicator->index, request->bytes, bytes_given(request));
    start(&call, cell, request, CONTEND_CALL);
  } else if (result == MPI_SUCCESS) {
    contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  }
  contend_done();
  return result;
}

int contend_Startall(int count, MPI_Request handles[]) {
  CONTEND_CALL_OF(Startall, (count, handles));
  int result = REAL(Startall)(count, handles);
  contend_leave(&call);
  if (result == MPI_SUCCESS) {
    uint64_t bytes = 0;
    for (int index = 0; index < count; index++)
      bytes += bytes_given(&requests[*link_to(CONTEND_KEY(handles[index]))]);
    uint32_t cell = contend_count(&call, communicator_of(handles, count, NULL), bytes, bytes);
    contend_keep(&call, cell, CONTEND_CALL, bytes, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST, 0,
                 CONTEND_NO_TURN);
    for (int index = 0; index < count; index++) {
      uint32_t known = *link_to(CONTEND_KEY(handles[index]));
      if (known) start(&call, cell, &requests[known], CONTEND_PART);
    }
  }
  contend_done();
  return result;
}

int contend_Request_free(MPI_Request* handle) {
  CONTEND_CALL_WITH(handle, Request_free, (handle));
  // Before it is freed: afterwards another thread may be given the same handle.
  contend_lock();
  uint32_t communicator = communicator_of(handle, 1, NULL);
  uint16_t* link = link_to(CONTEND_KEY(*handle));
  if (*link) forget(link);
  contend_unlock();
  int result = REAL(Request_free)(handle);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    contend_note(&call, communicator, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_done();
  return result;
}

static void note_cancelled(const contend_call* call, const MPI_Request* handle) {
  uint32_t known = *link_to(CONTEND_KEY(*handle));
  if (known) requests[known].cancelled = true;
  contend_note(call, communicator_of(handle, 1, NULL), 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
}
CONTEND_RECORDS(Cancel, (MPI_Request * handle), (handle), (void)0, note_cancelled(&call, handle))

// ---- partitions of persistent requests

#if CONTEND_MPI_4
/// Notes that some partitions of a request are ready; with the last of them it is sent.
static void note_ready(const contend_call* call, MPI_Request handle, uint32_t count) {
  contend_request* request = &requests[*link_to(CONTEND_KEY(handle))];
  bool known = request != requests;
  uint32_t index = known ? request->communicator->index : CONTEND_WORLD;
  uint32_t cell = contend_count(call, index, 0, 0);
  if (!known || request->parts || request->part_count == 0) return;
  request->part_count -= count < request->part_count ? count : request->part_count;
  if (request->part_count) return;
  int32_t peer = request->peer < 0 ? CONTEND_NO_PEER : request->peer;
  contend_turn turn = contend_begin(call, CONTEND_SENDS, index, peer, request->tag);
  request->turn = turn.number;
  contend_keep(call, cell, CONTEND_CALL, request->bytes, peer, request->tag, request->number, 0,
               turn);
}

#define READY(name, parameters, arguments, partitions)  \
  CONTEND_RECORDS(name, parameters, arguments, (void)0, \
                  note_ready(&call, request, (uint32_t)(partitions)))

READY(Pready, (int partition, MPI_Request request), (partition, request), 1)
READY(Pready_range, (int first, int last, MPI_Request request), (first, last, request),
      last - first + 1)
READY(Pready_list, (int count, const int list[], MPI_Request request), (count, (int*)list, request),
      count)

CONTEND_RECORDS(Parrived, (MPI_Request request, int partition, int* flag),
                (request, partition, flag), ASKED(&request),
                note_asked(&call, communicator, *flag, claimed))
#endif
