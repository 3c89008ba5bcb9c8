/// What the parts of the recorder know of each other, and the path that every recorded call takes.
///
/// A call of MPI_X or PMPI_X enters at `preloaded/entries.c`, which jumps to `contend_X` while
/// there is a record, else to the library's own. `contend_X` calls the library's, and then notes
/// what happened. What it asks MPI for itself goes to the library directly and happens after the
/// program's call, so that a call that fails stays the program's own affair.
#ifndef CONTEND_TRACER_TRACER_H
#define CONTEND_TRACER_TRACER_H

#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "entries.h"
#include "record.h"

/// The recorder's function for a routine.
#define RECORDED(name) CONTEND_RECORDED(name)
#define CONTEND_RECORDED(name) contend_##name

#define CONTEND_NONE UINT32_MAX
/// A variable that each thread has for itself. As this library is there from the beginning, it is
/// found without a call.
#define CONTEND_OF_THREAD __thread __attribute__((tls_model("initial-exec")))
/// A handle of the library, whether it is a number or an address.
#define CONTEND_KEY(handle) ((uint64_t)(uintptr_t)(handle))

// ---- clock.c

CONTEND_OWN bool contend_counter_runs;  ///< whether the processor's counter may be used

static inline int64_t contend_monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline uint64_t contend_ticks(void) {
#if defined(__x86_64__)
  if (CONTEND_LIKELY(contend_counter_runs)) return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
  return (uint64_t)contend_monotonic();
}

/// Decides which counter is used; before any other call here.
void contend_choose_counter(void);
/// How fast the counter has been since it was chosen, roughly.
uint64_t contend_ticks_per_second(void);
/// Compares this rank's clock with its parent's, all ranks together, on a communicator of all of
/// them in their order; `when` 0 and then 1, or only 0 where that is the `last`.
void contend_compare_clocks(int when, bool last, MPI_Comm all, contend_clock* clock);

// ---- record.c: the file, its cells and events

/// Messages in one direction to or from a rank, with one tag on one communicator.
typedef struct {
  uint64_t envelope;  ///< communicator and tag
  uint32_t side;      ///< peer, and whether they come from it
  uint32_t count;
  uint64_t last;  ///< ticks when the last one was sent, or had been received
} contend_flow;

/// A message in its flow.
typedef struct {
  uint32_t number;   ///< from 0, or CONTEND_NO_NUMBER
  uint64_t silence;  ///< ticks since the one before
} contend_turn;

/// What is recorded, all of it mapped from the file but for the tables that find things in it.
typedef struct {
  contend_header* header;
  contend_communicator* communicators;
  int32_t* members;
  contend_cell* cells;
  uint32_t* cell_slots;  ///< index of a cell by the hash of what it is of; CONTEND_NONE for none
  uint32_t cell_mask;
  contend_peer* peers;
  contend_collective* collectives;
  contend_event* events;
  uint64_t least;         ///< as in the header; 0 while nothing is left out
  contend_flow* flows;    ///< by their hash
  uint64_t* lasts;        ///< ticks of the last message on each side of each peer
  uint64_t next_reading;  ///< ticks at which both clocks are to be read again
  uint64_t reading_gap;   ///< ticks
  bool locked;            ///< several threads may call MPI at a time
  atomic_flag lock;
  atomic_uint threads;
} contend_record;

CONTEND_OWN contend_record contend;

enum { CONTEND_FLOW_BITS = 14 };  ///< as many flows are told apart, but for a quarter
#define CONTEND_NO_TURN ((contend_turn){CONTEND_NO_NUMBER, 0})

typedef struct {
  uintptr_t frame;  ///< of the routine that the program called
  bool inside;      ///< a call of the program's is under way
  bool known;
  uint16_t number;  ///< from 0, by first call
  contend_under_way* under_way;
  uint64_t own;  ///< ticks that the call spent in functions of the program's own
} contend_thread;

CONTEND_OWN CONTEND_OF_THREAD contend_thread contend_this_thread;

/// Functions of the program's own that the library calls: what a cell has as its routine then.
enum contend_own_kind {
  CONTEND_OWN_REDUCTION = CONTEND_ROUTINE_COUNT,
  CONTEND_OWN_ERROR_HANDLER,
  CONTEND_OWN_CALLBACK,  ///< of attributes
  CONTEND_OWN_REQUEST,   ///< of generalized requests
  CONTEND_ALL_ROUTINES
};

// ---- beginning_and_end.c

/// The ranks of MPI_COMM_WORLD, to be freed; MPI_GROUP_NULL where neither it nor a session is
/// there.
MPI_Group contend_world_group(void);
#if CONTEND_MPI_4
/// A session has made a communicator of all ranks, in their order: the first one of a program
/// without MPI_Init is where they sign in.
void contend_met_all_ranks(MPI_Comm all, const char* name);
#endif

/// Leaves word beside the records, for whoever reads them: a file of that name, and what it is of;
/// false, with errno, where it cannot be left or is there already.
bool contend_leave_word(const char* name, const char* of);

// ---- deaths.c

/// Whether a call that failed took place all the same: what came was more than there was room for.
bool contend_was_cut(int result);

/// Whether the program's call took place.
static inline bool contend_took_place(int result) {
  return CONTEND_LIKELY(result == MPI_SUCCESS) || contend_was_cut(result);
}

/// Notes an error that the call under way ends with.
void contend_note_error(int code);

/// Notes from now on what the process dies of.
void contend_watch_for_deaths(void);

// ---- record.c

/// Makes the record of this rank; false, after one line to standard error, when it cannot be.
bool contend_open_record(const char* folder, int rank, int size, int thread_level);
/// Ends the record: what it holds is all there will be.
void contend_close_record(enum contend_state state, int exit_code);
/// Writes the modules of the process that are not in the record yet.
void contend_note_modules(void);
/// Writes which addresses stand for the lines of a file.
void contend_note_source(uintptr_t start, uintptr_t end, const char* name);
/// Reads both clocks, so that ticks can be told as time if this process is killed.
void contend_read_clocks(uint64_t ticks);
/// Index of a new cell, which is to be found in a slot; where none fits any more, that of all calls
/// of the routine that had none.
uint32_t contend_new_cell(uint64_t site, uint32_t communicator, uint16_t routine,
                          uint16_t size_class, uint32_t slot);
/// The flow of an envelope, which is not where it was looked for first.
contend_flow* contend_flow_slowly(contend_flow* flow, uint64_t envelope, uint32_t side);

// ---- sites.c: where in the program

/// Return addresses from the first to the second may be the library's own, as are those of its
/// Fortran interface, or mpi4py's: the program's call is then further up. Both only move apart, so
/// that a thread may read them while another one learns more.
CONTEND_OWN uintptr_t contend_own_start, contend_own_end;

/// Whether an address is in the library's own code.
bool contend_is_own(uintptr_t address);
/// The return address in the program of a call that came out of the library's own code; of a line
/// of Python what stands for it.
uintptr_t contend_site_behind(uintptr_t address, uintptr_t frame);
/// Learns which code is the library's own; after the program has loaded more, again.
void contend_learn_own_code(void);

// ---- python_sites.c

/// Whether this is a Python of which the lines can be told; before it is asked for one.
bool contend_find_python(void);
/// Whether a call from an address is of the interpreter's own, when it has ended all programs.
bool contend_is_end_of_python(uintptr_t address);
/// What stands for the line of Python that has called what calls from an address; else the address.
uintptr_t contend_site_in_python(uintptr_t address);
/// The line of Python that this thread is in, outside of Python's own library if any is, for
/// handlers of signals: nothing is learnt or taken. Gives its number, or 0 where none is known.
int contend_line_in_python(char* file, size_t room);

/// A call of the program's that is under way, or was.
typedef struct {
  uint64_t start, end;  ///< ticks
  uintptr_t site;       ///< return address
  uint16_t routine;
} contend_call;

/// Gives this thread its number and its place in the record; before anything else of its first
/// call.
void contend_meet_thread(void);

/// Whether a call is the program's own; false when it comes from within another.
static inline bool contend_enter(contend_call* call, uint16_t routine, void* site, void* frame) {
  contend_thread* thread = &contend_this_thread;
  // An error handler may have left a call by a jump: then this frame is not below that one's.
  if (thread->inside && (uintptr_t)frame < thread->frame) return false;
  thread->inside = true;
  thread->own = 0;
  thread->frame = (uintptr_t)frame;
  call->routine = routine;
  call->site = (uintptr_t)site;
  if (call->site >= __atomic_load_n(&contend_own_start, __ATOMIC_RELAXED) &&
      call->site < __atomic_load_n(&contend_own_end, __ATOMIC_RELAXED))
    call->site = contend_site_behind(call->site, thread->frame);
  if (!CONTEND_LIKELY(thread->known)) contend_meet_thread();
  call->start = contend_ticks();
  contend_under_way* under_way = thread->under_way;
  under_way->start = call->start;
  under_way->site = call->site;
  under_way->count = 0;
  under_way->routine = routine;
  return true;
}

/// Keeps other threads out of the tables and the record, where there may be any.
static inline void contend_lock(void) {
  if (contend.locked)
    while (atomic_flag_test_and_set_explicit(&contend.lock, memory_order_acquire)) sched_yield();
}

static inline void contend_unlock(void) {
  if (contend.locked) atomic_flag_clear_explicit(&contend.lock, memory_order_release);
}

/// The real routine has returned: what follows is the recorder's time. What the program's own
/// functions took within it counts as if it had followed the call.
static inline void contend_leave(contend_call* call) {
  call->end = contend_ticks() - contend_this_thread.own;
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->left = call->end;
  under_way->routine = CONTEND_NO_CALL;
  contend_lock();
  if (call->end >= contend.next_reading) contend_read_clocks(call->end);
}

/// Everything is noted.
static inline void contend_done(void) {
  contend_unlock();
  contend_this_thread.inside = false;
}

/// Whether a cell is that of such calls.
static inline bool contend_is_cell_of(const contend_cell* cell, const contend_call* call,
                                      uint32_t communicator, uint16_t size_class) {
  return cell->site == call->site && cell->communicator == communicator &&
         cell->routine == call->routine && cell->size_class == size_class;
}

/// The cell of a call.
static inline uint32_t contend_cell_of(const contend_call* call, uint32_t communicator,
                                       uint64_t bytes) {
  uint16_t size_class = bytes ? (uint16_t)(64 - __builtin_clzll(bytes)) : 0;
  uint64_t rest = (uint64_t)communicator << 32 | (uint64_t)call->routine << 16 | size_class;
  uint64_t hash = (call->site ^ rest * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
  uint32_t slot = (uint32_t)(hash >> 32) & contend.cell_mask;
  for (;; slot = (slot + 1) & contend.cell_mask) {
    uint32_t index = contend.cell_slots[slot];
    if (index == CONTEND_NONE)
      return contend_new_cell(call->site, communicator, call->routine, size_class, slot);
    if (contend_is_cell_of(&contend.cells[index], call, communicator, size_class)) return index;
  }
}

/// Counts a call in its cell with the bytes that it `gave`.
static inline void contend_count_in(const contend_call* call, uint32_t index, uint64_t gave) {
  contend_cell* cell = &contend.cells[index];
  uint64_t ticks = call->end - call->start;
  cell->calls++;
  cell->bytes += gave;
  cell->ticks += ticks;
  if (ticks > cell->longest) cell->longest = ticks;
}

/// Counts a call in the class of `size`; gives its cell.
static inline uint32_t contend_count(const contend_call* call, uint32_t communicator, uint64_t size,
                                     uint64_t gave) {
  uint32_t index = contend_cell_of(call, communicator, size);
  contend_count_in(call, index, gave);
  return index;
}

/// The flow of messages to or from a rank of MPI_COMM_WORLD.
static inline contend_flow* contend_flow_of(bool comes, uint32_t communicator, int32_t peer,
                                            int32_t tag) {
  uint64_t envelope = (uint64_t)communicator << 32 | (uint32_t)tag;
  uint32_t side = (uint32_t)peer << 1 | comes;
  // As quick as can be: neighbours in the table are tried one after the other.
  uint32_t slot = side + (uint32_t)tag * 0x9e5u + communicator * 0x35bdu;
  contend_flow* flow = &contend.flows[slot & ((1u << CONTEND_FLOW_BITS) - 1)];
  if (!CONTEND_LIKELY(flow->side == side && flow->envelope == envelope))
    return contend_flow_slowly(flow, envelope, side);
  return flow;
}

/// The next message of a flow. What others wait for is when it has `begun`, and the silence before
/// the one after it counts from when it `ended`.
static inline contend_turn contend_next(bool comes, uint32_t communicator, int32_t peer,
                                        int32_t tag, uint64_t begun, uint64_t ended) {
  if (peer < 0) return CONTEND_NO_TURN;
  contend_flow* flow = contend_flow_of(comes, communicator, peer, tag);
  contend_turn turn = {flow->count, begun > flow->last ? begun - flow->last : 0};
  flow->count += flow->count < CONTEND_NO_NUMBER;
  flow->last = contend.lasts[(uint32_t)peer << 1 | comes] = ended;
  return turn;
}

/// How many events there have been so far.
static inline uint64_t contend_events_so_far(void) {
  const contend_section* section = &contend.header->sections[CONTEND_EVENTS];
  return section->used + section->lost;
}

/// Appends an event of a length in ticks, if it is one of the longest.
void contend_append(const contend_call* call, contend_event event, uint64_t length);
/// Likewise of what is known of an event.
static inline void contend_keep(const contend_call* call, uint32_t cell,
                                enum contend_event_kind kind, uint64_t bytes, int32_t peer,
                                int32_t tag, uint32_t request, uint32_t role, contend_turn turn) {
  uint64_t length = call->end - call->start;
  if (turn.silence > length) length = turn.silence;
  if (CONTEND_LIKELY(length < contend.least))
    contend.header->sections[CONTEND_EVENTS].lost++;
  else
    contend_append(call,
                   (contend_event){.bytes = bytes,
                                   .cell = cell,
                                   .peer = peer,
                                   .tag = tag,
                                   .request = request,
                                   .kind = (uint8_t)kind,
                                   .turn = turn.number << 2 | role},
                   length);
}

/// Notes a call that stands by itself.
static inline void contend_note(const contend_call* call, uint32_t communicator, uint64_t bytes,
                                int32_t peer, int32_t tag, uint32_t request) {
  uint32_t cell = contend_count(call, communicator, bytes, bytes);
  contend_keep(call, cell, CONTEND_CALL, bytes, peer, tag, request, 0, CONTEND_NO_TURN);
}

/// Begins a function of the recorder: a call from within another goes straight to the library.
#define CONTEND_CALL_OF(name, arguments) CONTEND_BEGIN_CALL(name, arguments)
/// Likewise, where the recorder looks at what the program points to: a call that points to nothing
/// is for the library to judge.
#define CONTEND_CALL_WITH(places, name, arguments)          \
  if (!CONTEND_LIKELY(places)) return REAL(name) arguments; \
  CONTEND_BEGIN_CALL(name, arguments)
#define CONTEND_BEGIN_CALL(name, arguments)                                      \
  contend_call call;                                                             \
  if (!contend_enter(&call, contend_routine_##name, __builtin_return_address(0), \
                     __builtin_frame_address(0)))                                \
  return REAL(name) arguments

/// A function of the recorder: `before` the call goes to the library, and `after` it has succeeded.
#define CONTEND_RECORDS(name, parameters, arguments, before, after) \
  int RECORDED(name) parameters {                                   \
    CONTEND_CALL_OF(name, arguments);                               \
    before;                                                         \
    int result = REAL(name) arguments;                              \
    contend_leave(&call);                                           \
    if (result == MPI_SUCCESS) after;                               \
    contend_done();                                                 \
    return result;                                                  \
  }

#endif
