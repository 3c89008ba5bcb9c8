// Collectives: what each rank gives, to whom where the routine's definition says so, and when the
// members of a communicator come and go.
//
// Bytes are what this rank gives: its block for a gather or a reduction, the blocks of all for a
// scatter or an all-to-all. A rank that gives nothing, as all but the root of a broadcast, has what
// arrives.
#include <stdlib.h>
#include <string.h>

#include "handles.h"

#define OPEN(...) __VA_ARGS__

enum { MOST_STRIDE = 1 << 30 };

/// What this rank gives in a call.
typedef struct {
  contend_live_communicator* on;
  MPI_Comm handle;
  uint64_t bytes;
  contend_shape shape;
  int32_t root;    ///< in MPI_COMM_WORLD, or CONTEND_NO_PEER
  uint32_t parts;  ///< how many of `parts` below
  bool as_events;
} volume;

// To whom; used by one call at a time.
static contend_part* parts;
static uint32_t part_room;

static volume nothing_on(MPI_Comm handle) {
  return (volume){.on = contend_find(handle), .handle = handle, .root = CONTEND_NO_PEER};
}

// ---- what all members must give alike

enum { NO_ROOT = INT32_MIN };
static uint64_t operations[CONTEND_OWN_OPERATION];  // handles

void contend_start_operations(void) {
  const MPI_Op known[CONTEND_OWN_OPERATION] = {
      [CONTEND_SUM] = MPI_SUM,        [CONTEND_MAX] = MPI_MAX,       [CONTEND_MIN] = MPI_MIN,
      [CONTEND_PROD] = MPI_PROD,      [CONTEND_LAND] = MPI_LAND,     [CONTEND_BAND] = MPI_BAND,
      [CONTEND_LOR] = MPI_LOR,        [CONTEND_BOR] = MPI_BOR,       [CONTEND_LXOR] = MPI_LXOR,
      [CONTEND_BXOR] = MPI_BXOR,      [CONTEND_MAXLOC] = MPI_MAXLOC, [CONTEND_MINLOC] = MPI_MINLOC,
      [CONTEND_REPLACE] = MPI_REPLACE};
  for (int index = CONTEND_SUM; index < CONTEND_OWN_OPERATION; index++)
    operations[index] = CONTEND_KEY(known[index]);
}

static inline uint32_t operation_of(MPI_Op operation) {
  uint32_t index = CONTEND_SUM;
  while (index < CONTEND_OWN_OPERATION && operations[index] != CONTEND_KEY(operation)) index++;
  return index;
}

/// The shape of a call; `at_root` are the root's bytes, which its other arguments tell. Between
/// groups members give different things.
static inline contend_shape shape_of(const contend_live_communicator* on, int root,
                                     uint32_t operation, uint64_t at_root, uint64_t elsewhere) {
  if (on == NULL || on->kind == CONTEND_INTER)
    return (contend_shape){CONTEND_NO_PEER, 0, CONTEND_UNKNOWN_BYTES};
  int32_t world_root = root == NO_ROOT ? CONTEND_NO_PEER : contend_world_rank(on, root);
  return (contend_shape){world_root, operation, root == on->rank ? at_root : elsewhere};
}
#define SHAPE(root, operation, at_root, elsewhere) shape_of(on, root, operation, at_root, elsewhere)
#define LOOSE_SHAPE(root, operation) \
  SHAPE(root, operation, CONTEND_UNKNOWN_BYTES, CONTEND_UNKNOWN_BYTES)
#define SAME_SHAPE(root, operation, bytes) SHAPE(root, operation, bytes, bytes)

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
  return count ? (uint64_t)count * contend_size_of(type) : 0;
}

/// Adds what goes to one; nothing counts as no message.
static void add_part(volume* given, int32_t peer, uint64_t bytes) {
  int32_t world_peer = contend_world_rank(given->on, peer);
  given->as_events = true;
  if (bytes == 0 || peer < 0) return;
  given->bytes += bytes;
  if (given->parts == part_room) {
    part_room = part_room ? 2 * part_room : 64;
    parts = realloc(parts, part_room * sizeof *parts);
    if (parts == NULL) abort();
  }
  parts[given->parts++] = (contend_part){world_peer, bytes};
}

static void to_all(volume* given, uint64_t bytes, bool once) {
  for (int32_t peer = 0; peer < given->on->peer_count; peer++) add_part(given, peer, bytes);
  given->as_events = false;
  if (once) given->bytes = bytes;
}

static void to_each_neighbour(volume* given, uint64_t bytes) {
  const int32_t* neighbours;
  int32_t count = contend_neighbours(given->on, given->handle, &neighbours);
  for (int32_t index = 0; index < count; index++) add_part(given, neighbours[index], bytes);
  given->as_events = true;
}

static bool is_root(const volume* given, int root) {
  return root == MPI_ROOT || (given->on->kind != CONTEND_INTER && root == given->on->rank);
}

static void set_root(volume* given, int root) {
  given->root = root == MPI_ROOT ? contend.header->rank : contend_world_rank(given->on, root);
}

/// This rank gives its block to the root; the root of another group has what arrives.
static void to_root(volume* given, int root, uint64_t bytes) {
  set_root(given, root);
  if (root >= 0) add_part(given, root, bytes);
  given->bytes = bytes;
  given->as_events = false;
}

/// The root gives the same to all.
static void from_root(volume* given, int root, uint64_t bytes) {
  set_root(given, root);
  if (is_root(given, root))
    to_all(given, bytes, true);
  else if (root != MPI_PROC_NULL)
    given->bytes = bytes;
}

/// Whether an occurrence is one of those that are kept, on all members alike.
static bool is_kept(uint32_t turn, uint32_t number) {
  return ((turn + number) & (contend.header->collective_stride - 1)) == 0;
}

/// Leaves out every other occurrence, the same ones on all members.
static void thin_out(void) {
  contend_section* section = &contend.header->sections[CONTEND_COLLECTIVES];
  contend.header->collective_stride *= 2;
  uint64_t kept = 0;
  for (uint64_t index = 0; index < section->used; index++) {
    const contend_collective* occurrence = &contend.collectives[index];
    if (is_kept(occurrence->turn, occurrence->number)) contend.collectives[kept++] = *occurrence;
  }
  section->lost += section->used - kept;
  section->used = kept;
}

static void keep_occurrence(const contend_call* call, const volume* given, uint32_t cell) {
  contend_section* section = &contend.header->sections[CONTEND_COLLECTIVES];
  uint32_t number = given->on->collectives, turn = given->on->turn;
  // Whose communicator cannot be told is not judged.
  if (given->on->index == CONTEND_OTHERS) return;
  // Those of many communicators that all are the first there cannot be thinned out.
  while (section->used == section->capacity && contend.header->collective_stride < MOST_STRIDE)
    thin_out();
  if (section->used == section->capacity || !is_kept(turn, number)) {
    section->lost++;
    return;
  }
  contend.collectives[section->used++] =
      (contend_collective){call->start, call->end, given->on->index, number, cell, turn};
}

static uint32_t note(const contend_call* call, const volume* given, uint32_t request) {
  uint32_t cell = contend_count(call, given->on->index, given->bytes, given->bytes);
  contend_turn turn =
      contend_next(true, given->on->index, contend.header->size, 0, call->start, call->end);
  turn.number = contend_so_far(given->on);
  contend_keep(call, cell, CONTEND_CALL, given->bytes, given->root, (int32_t)given->shape.operation,
               request, 2, turn);
  contend_add_parts(call, cell, parts, given->parts, given->as_events);
  return cell;
}

static void note_blocking(const contend_call* call, const volume* given) {
  uint32_t cell = note(call, given, CONTEND_NO_REQUEST);
  keep_occurrence(call, given, cell);
  contend_count_collective(given->on);
}

void contend_note_together(const contend_call* call, contend_live_communicator* on) {
  volume given = {.on = on, .root = CONTEND_NO_PEER};
  note_blocking(call, &given);
}

static void note_nonblocking(const contend_call* call, const volume* given, MPI_Request handle) {
  contend_request* request = contend_new_request(handle, given->on, CONTEND_COLLECTIVE, false);
  request->routine = call->routine;
  request->peer = given->shape.root;
  request->tag = (int32_t)given->shape.operation;
  request->bytes = given->shape.bytes;
  request->cell = note(call, given, request->number);
  contend_count_collective(given->on);
}

#if CONTEND_MPI_4
/// A persistent one gives each time it is started.
static void note_persistent(const contend_call* call, const volume* given, MPI_Request handle) {
  contend_request* request = contend_new_request(handle, given->on, CONTEND_COLLECTIVE, true);
  request->bytes = given->bytes;
  request->routine = call->routine;
  request->peer = given->root;
  request->parts_are_events = given->as_events;
  if (given->parts) {
    request->parts = malloc(given->parts * sizeof *parts);
    if (request->parts == NULL) abort();
    memcpy(request->parts, parts, given->parts * sizeof *parts);
    request->part_count = given->parts;
  }
  uint32_t cell = contend_count(call, given->on->index, given->bytes, 0);
  contend_keep(call, cell, CONTEND_CALL, given->bytes, given->root, 0, CONTEND_NO_REQUEST, 0,
               CONTEND_NO_TURN);
}
#endif

CONTEND_RECORDS(Barrier, (MPI_Comm on), (on), contend_await_members(on),
                contend_note_together(&call, contend_find(on)))

static void note_begun_barrier(const contend_call* call, MPI_Comm on, MPI_Request request) {
  volume given = nothing_on(on);
  given.shape = (contend_shape){CONTEND_NO_PEER, 0, 0};
  note_nonblocking(call, &given, request);
}
CONTEND_RECORDS(Ibarrier, (MPI_Comm on, MPI_Request* request), (on, request), (void)0,
                note_begun_barrier(&call, on, *request))
#if CONTEND_MPI_4
CONTEND_RECORDS(Barrier_init, (MPI_Comm on, MPI_Info info, MPI_Request* request),
                (on, info, request), volume given,
                (given = nothing_on(on), note_persistent(&call, &given, *request)))
#endif

#define COUNT int
#define DISPLACEMENT int
#define WIDE_DISPLACEMENT int
#define NAMED(routine) routine
#include "volumes.h"
#if CONTEND_BIG_COUNTS
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define WIDE_DISPLACEMENT MPI_Aint
#define NAMED(routine) routine##_c
#include "volumes.h"
#endif
