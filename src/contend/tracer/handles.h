/// What the recorder remembers of the program's handles: communicators, datatypes and requests.
#ifndef CONTEND_TRACER_HANDLES_H
#define CONTEND_TRACER_HANDLES_H

#include "tracer.h"

// ---- communicators.c

/// A communicator that the program may use, or a window, which has one of its own. It outlives its
/// handle until the last request that refers to it is gone.
typedef struct contend_live_communicator contend_live_communicator;
struct contend_live_communicator {
  uint64_t key;  ///< handle
  uint64_t id;
  uint32_t index;  ///< in the record, perhaps with others like it
  uint32_t turn;   ///< how many of its index there were before
  uint32_t kind;
  int32_t rank, size;         ///< own rank, and size of the own group
  int32_t peer_count;         ///< how many peers there are: of the remote group between groups
  int32_t* world_ranks;       ///< of peers; NULL where peers are ranks of MPI_COMM_WORLD
  uint32_t collectives;       ///< collectives so far
  int32_t* destinations;      ///< neighbours that it sends to, in order, as ranks in it; or NULL
  int32_t destination_count;  ///< -1 until they are asked for
  uint32_t references;        ///< its handle and requests
  int32_t* epochs[2];         ///< of a window: targets that it was started for, origins that it
                              ///< was posted for, in MPI_COMM_WORLD
  int32_t epoch_sizes[2];
  contend_live_communicator* next;  ///< of those in one slot of the table
};

void contend_start_communicators(void);
/// The communicator of a handle that a successful call has used; never NULL.
contend_live_communicator* contend_communicator_slowly(MPI_Comm handle);
CONTEND_OWN contend_live_communicator* contend_last_communicator;

static inline contend_live_communicator* contend_find(MPI_Comm handle) {
  contend_live_communicator* last = contend_last_communicator;
  if (CONTEND_LIKELY(last->key == CONTEND_KEY(handle))) return last;
  return contend_communicator_slowly(handle);
}

contend_live_communicator* contend_look_up(uint64_t key);

/// The communicator of a handle; NULL when no call that succeeded has used it. Before a call
/// nothing may be asked of a handle, which may be none.
static inline contend_live_communicator* contend_known(MPI_Comm handle) {
  contend_live_communicator* last = contend_last_communicator;
  return CONTEND_LIKELY(last->key == CONTEND_KEY(handle)) ? last
                                                          : contend_look_up(CONTEND_KEY(handle));
}

/// A peer as `contend_awaited` has it: CONTEND_NO_PEER for MPI_PROC_NULL alone.
int32_t contend_awaited_peer(const contend_live_communicator* on, int peer);

static inline contend_awaited contend_awaited_of(enum contend_awaited_kind kind,
                                                 uint32_t communicator, int32_t peer, int tag,
                                                 uint32_t number) {
  return (contend_awaited){.kind = kind,
                           .peer = peer,
                           .tag = tag == MPI_ANY_TAG ? CONTEND_ANY_TAG : tag,
                           .communicator = communicator,
                           .number = number,
                           .bytes = CONTEND_UNKNOWN_BYTES};
}

/// Notes, before a call goes to the library, what else it will wait for; `number` is that of a
/// collective, else 0.
static inline void contend_await_at(uint32_t place, enum contend_awaited_kind kind,
                                    const contend_live_communicator* on, int32_t peer, int tag,
                                    uint32_t number) {
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->awaited[place] =
      contend_awaited_of(kind, on ? on->index : CONTEND_OTHERS, peer, tag, number);
  under_way->count = place + 1;
}
static inline void contend_await(enum contend_awaited_kind kind,
                                 const contend_live_communicator* on, int32_t peer, int tag,
                                 uint32_t number) {
  contend_await_at(0, kind, on, peer, tag, number);
}

/// Collectives so far on all communicators of its index, those among them that make communicators.
static inline uint32_t contend_so_far(const contend_live_communicator* on) {
  return on->index == CONTEND_OTHERS ? on->collectives
                                     : contend.communicators[on->index].collectives;
}

/// What all members must give alike to a collective.
typedef struct {
  int32_t root;        ///< in MPI_COMM_WORLD, or CONTEND_NO_PEER
  uint32_t operation;  ///< contend_operation
  uint64_t bytes;      ///< from or to each, or CONTEND_UNKNOWN_BYTES
} contend_shape;

/// Notes a blocking collective that is about to go to the library; the caller holds the lock.
static inline void contend_await_collective(const contend_live_communicator* on,
                                            contend_shape shape) {
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->awaited[0] = (contend_awaited){.kind = CONTEND_AWAITS_MEMBERS,
                                            .peer = shape.root,
                                            .tag = (int32_t)shape.operation,
                                            .communicator = on ? on->index : CONTEND_OTHERS,
                                            .number = on ? contend_so_far(on) : 0,
                                            .routine = under_way->routine,
                                            .bytes = shape.bytes};
  under_way->count = 1;
}

static inline void contend_await_members(MPI_Comm handle) {
  contend_lock();
  contend_await_collective(contend_known(handle),
                           (contend_shape){CONTEND_NO_PEER, 0, CONTEND_UNKNOWN_BYTES});
  contend_unlock();
}

/// This rank has left one more collective, or begun it where it does not wait.
static inline void contend_count_collective(contend_live_communicator* on) {
  on->collectives++;
  if (on->index != CONTEND_OTHERS) contend.communicators[on->index].collectives++;
}

/// Notes a blocking collective in which no bytes move, with when it was entered and left.
void contend_note_together(const contend_call* call, contend_live_communicator* on);

/// Makes a window known that all members of a communicator have made, or a file that they opened.
void contend_add_window(const contend_call* call, MPI_Comm parent, uint64_t key);
void contend_add_file(const contend_call* call, MPI_Comm parent, uint64_t key);
/// Ranks of a group in MPI_COMM_WORLD, CONTEND_NO_PEER for others; the caller frees them.
int32_t* contend_ranks_of(MPI_Group group, int32_t* count);
/// Forgets a handle of a communicator, window or file; gives its index.
uint32_t contend_forget(uint64_t key);
void contend_free_communicator(contend_live_communicator* communicator);

/// Gives up a reference.
static inline void contend_release(contend_live_communicator* communicator) {
  if (--communicator->references == 0) contend_free_communicator(communicator);
}

/// The rank in MPI_COMM_WORLD of a rank in a communicator; CONTEND_NO_PEER for none.
static inline int32_t contend_world_rank(const contend_live_communicator* communicator, int rank) {
  if (rank < 0 || rank >= communicator->peer_count) return CONTEND_NO_PEER;
  return communicator->world_ranks ? communicator->world_ranks[rank] : rank;
}

static inline void contend_await_peer_at(uint32_t place, enum contend_awaited_kind kind,
                                         MPI_Comm handle, int peer, int tag) {
  contend_lock();
  const contend_live_communicator* on = contend_known(handle);
  int32_t world_rank = on ? contend_world_rank(on, peer) : CONTEND_NO_PEER;
  int32_t awaited = world_rank >= 0 ? world_rank : contend_awaited_peer(on, peer);
  contend_await_at(place, kind, on, awaited, tag, 0);
  if (awaited == CONTEND_INVALID_PEER) {
    contend_awaited* thing = &contend_this_thread.under_way->awaited[place];
    thing->number = (uint32_t)peer;
    thing->bytes = (uint64_t)on->peer_count;
  }
  contend_unlock();
}
static inline void contend_await_peer(enum contend_awaited_kind kind, MPI_Comm handle, int peer,
                                      int tag) {
  contend_await_peer_at(0, kind, handle, peer, tag);
}

/// The neighbours that neighbourhood collectives send to: their number, and ranks in the
/// communicator.
int32_t contend_neighbours(contend_live_communicator* communicator, MPI_Comm handle,
                           const int32_t** destinations);

// ---- datatypes.c

typedef struct {
  uint64_t key;
  uint64_t bytes;
} contend_type_size;

#define CONTEND_TYPE_SLOTS 1024u
CONTEND_OWN contend_type_size contend_type_sizes[CONTEND_TYPE_SLOTS];
uint64_t contend_size_slowly(MPI_Datatype type);

static inline uint32_t contend_type_slot(uint64_t key) {
  return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 54) & (CONTEND_TYPE_SLOTS - 1);
}

/// Makes the datatypes known that most programs use.
void contend_start_datatypes(void);

/// Bytes of an item of a type that most programs use, whatever has its slot; or
/// CONTEND_UNKNOWN_BYTES.
uint64_t contend_usual_size(uint64_t key);

/// Bytes of so many items, where the type is known: before a call nothing may be asked of one.
static inline uint64_t contend_known_bytes(int64_t count, MPI_Datatype type) {
  uint64_t key = CONTEND_KEY(type);
  const contend_type_size* known = &contend_type_sizes[contend_type_slot(key)];
  uint64_t size = CONTEND_LIKELY(known->key == key) ? known->bytes : contend_usual_size(key);
  return count < 0 || size == CONTEND_UNKNOWN_BYTES ? CONTEND_UNKNOWN_BYTES
                                                    : (uint64_t)count * size;
}

/// Bytes of data in one item of a datatype.
static inline uint64_t contend_size_of(MPI_Datatype type) {
  const contend_type_size* known = &contend_type_sizes[contend_type_slot(CONTEND_KEY(type))];
  return CONTEND_LIKELY(known->key == CONTEND_KEY(type)) ? known->bytes : contend_size_slowly(type);
}

// ---- requests.c

/// Bytes to one peer, of a call that sends to several.
typedef struct {
  int32_t peer;  ///< rank in MPI_COMM_WORLD
  uint64_t bytes;
} contend_part;

/// What becomes known when a request completes, and what it does when it is started again: as what
/// who waits for it awaits.
enum contend_request_kind {
  CONTEND_SENDS = CONTEND_AWAITS_RECEIVER,
  CONTEND_RECEIVES = CONTEND_AWAITS_SENDER,
  CONTEND_EXCHANGES = CONTEND_AWAITS_EXCHANGE,  ///< sends and receives
  CONTEND_COLLECTIVE = CONTEND_AWAITS_MEMBERS,
  CONTEND_OPERATES = CONTEND_AWAITS_TARGET  ///< one-sided
};

/// A request under way, or a persistent one, in one line of the processor's cache.
typedef struct {
  uint64_t key;  ///< handle
  uint64_t bytes;
  contend_live_communicator* communicator;
  union {
    contend_part* parts;  ///< of a persistent collective, for which they are copied; or NULL
    struct {
      int32_t peer, tag;
    } source;  ///< of what an exchange receives, as `contend_awaited` has them
  };
  uint32_t part_count;  ///< without `parts`: partitions that are not marked as ready yet
  uint32_t number;      ///< CONTEND_NO_REQUEST while a persistent one is not under way
  uint32_t cell;        ///< of the call that began it
  union {
    uint32_t turn;     ///< of a message: its number in its flow, or CONTEND_NO_NUMBER
    uint32_t routine;  ///< of a collective
  };
  int32_t peer;         ///< as `contend_awaited` has it
  int32_t tag;          ///< of a collective its contend_operation
  uint32_t collective;  ///< number of a collective on the communicator; of what is sent in
                        ///< partitions how many they are
  uint16_t next;        ///< index of the next one in the same slot, or free
  uint8_t kind : 4;     ///< contend_request_kind
  bool persistent : 1, cancelled : 1, parts_are_events : 1;
  bool claimed;  ///< a call waits for it
} contend_request;

/// The turn of a message that a request begins, where it is known before it is complete.
static inline contend_turn contend_begin(const contend_call* call, enum contend_request_kind kind,
                                         uint32_t communicator, int32_t peer, int32_t tag) {
  bool comes = kind == CONTEND_RECEIVES;
  if (comes && tag == MPI_ANY_TAG) return CONTEND_NO_TURN;
  return contend_next(comes, communicator, peer, tag, call->start, comes ? call->end : call->start);
}

/// Knows operations of reductions from now on.
void contend_start_operations(void);
/// Whether there is room for requests.
bool contend_start_requests(void);
/// Remembers a request. What the caller does not fill in is 0; its number is CONTEND_NO_REQUEST
/// when the table is full, and for a persistent one, which has one only while it is under way.
contend_request* contend_new_request(MPI_Request handle, contend_live_communicator* communicator,
                                     enum contend_request_kind kind, bool persistent);

/// A call that may be a question in vain as the program waits for its answer: `call` begins where
/// the question before it ended, if that was no other thing. Gives the ticks when the first of them
/// began, at which the event of a question that is answered begins.
uint64_t contend_asked(contend_call* call, bool answered);

/// A call that reads `where` of a window's target, which is a question in vain if the thread then
/// reads the same again, with nothing in between but what makes the window's operations complete.
void contend_read(const contend_call* call, uint64_t where);
/// Whether a thread that has read a window called nothing but that since; `before` what it calls
/// now there were so many events.
bool contend_reads_on(uint32_t communicator, uint64_t before);
/// Such a call in between, or that itself.
void contend_read_on(const contend_call* call, uint32_t communicator, uint64_t before);

/// Bytes that a receive brought.
static inline uint64_t contend_received(const MPI_Status* status) {
#ifdef OPEN_MPI
  return status->_ucount;
#else
  static int (*ask)(const MPI_Status*, MPI_Datatype, MPI_Count*);
  if (ask == NULL) ask = (__typeof__(ask))contend_symbol("PMPI_Get_elements_x");
  MPI_Count bytes = 0;
  ask(status, MPI_BYTE, &bytes);
  return bytes > 0 ? (uint64_t)bytes : 0;
#endif
}

/// Counts a message to a rank of MPI_COMM_WORLD.
static inline void contend_sent(int32_t peer, uint64_t bytes) {
  if (peer < 0) return;
  contend.peers[peer].bytes += bytes;
  contend.peers[peer].messages++;
}

/// Counts what a collective gave to each, and appends it to the events where wanted.
void contend_add_parts(const contend_call* call, uint32_t cell, const contend_part* parts,
                       uint32_t count, bool as_events);

#endif
