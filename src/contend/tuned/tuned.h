/// What the parts of the drop-in all-to-all know of each other, and the way that a call takes.
///
/// A call enters at `preloaded/entries.c`. While there are rules, all-to-alls lead to the functions
/// of `alltoalls.h`, which ask the rules for a schedule by what is the same on all ranks: the
/// number of ranks, the most of them on one host, the bytes of a block. Where the rules have none
/// the call goes on to the library's own. Otherwise the schedule's messages are sent one phase
/// after the other, by the library's plain sends and receives, on a duplicate of the communicator
/// that the program cannot see. All ranks of a program must have this library and the same rules.
#ifndef CONTEND_TUNED_TUNED_H
#define CONTEND_TUNED_TUNED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entries.h"
#include "schedules.h"

// What is called beside the routines that have entries.
#define CONTEND_LIBRARY(X) \
  X(Type_size_x)           \
  X(Type_get_extent)       \
  X(Type_get_envelope)     \
  X(Type_get_true_extent)  \
  X(Type_contiguous)       \
  X(Type_commit)           \
  X(Comm_size)             \
  X(Comm_rank)             \
  X(Comm_test_inter)       \
  X(Comm_create_keyval)    \
  X(Comm_get_attr)         \
  X(Comm_set_attr)         \
  X(Comm_delete_attr)      \
  X(Comm_get_errhandler)   \
  X(Comm_set_errhandler)   \
  X(Comm_call_errhandler)  \
  X(Errhandler_free)       \
  X(Send)                  \
  X(Pack)                  \
  X(Pack_size)             \
  X(Query_thread)
CONTEND_OWN struct contend_library {
#define X(name) __typeof__(&MPI_##name) name;
  CONTEND_LIBRARY(X)
#undef X
} contend_library;

// ---- rules.c: which schedule is for what

/// Beside the schedules: the library's own choice.
#define CONTEND_LIBRARYS_OWN CONTEND_SCHEDULES

/// From the first to the last, both included.
typedef struct {
  uint64_t first, last;
} contend_range;

typedef struct {
  contend_range ranks, ranks_per_host, bytes;
  enum contend_schedule schedule;
} contend_rule;

typedef struct {
  contend_rule* rules;
  size_t count;
  contend_range ranks, bytes;  ///< around those of all rules that have a schedule
  bool nonblocking;            ///< communicators are made ready for nonblocking calls
  uint64_t phases_seconds;     ///< that finding phases by routes may take
  uint64_t hash;               ///< of the file
  char folder[4096];
} contend_rule_book;
CONTEND_OWN contend_rule_book contend_rules;

/// Reads rules.toml of a folder; what is wrong is written to standard error, and false.
bool contend_read_rules(const char* folder);
const char* contend_schedule_name(enum contend_schedule schedule);

static inline bool contend_within(contend_range range, uint64_t value) {
  return value - range.first <= range.last - range.first;
}

/// The schedule for blocks of so many bytes; CONTEND_LIBRARYS_OWN for none.
enum contend_schedule contend_schedule_for(int ranks, int ranks_per_host, uint64_t bytes);
/// The schedule for blocks that differ: that of the first rule for so many ranks which has one.
enum contend_schedule contend_uneven_schedule(int ranks, int ranks_per_host);

// ---- members.c: what is known of a communicator

struct contend_phase_part;

typedef struct contend_members {
  MPI_Comm comm;  ///< private duplicate
  int rank, size;
  int ranks_per_host;  ///< the most
  int hosts;
  int* host_of;                             ///< by rank, from 0
  bool passes;                              ///< its calls all go to the library
  bool freed;                               ///< by the program, while operations are under way
  uint64_t hosts_hash;                      ///< of the list of the ranks' hosts
  const struct contend_phase_part* phases;  ///< by routes; NULL before they were asked for
  contend_plan* plans[CONTEND_SCHEDULES];
  MPI_Request* requests;  ///< of a blocking call; two for each rank
  uint32_t begun;         ///< nonblocking calls so far
  uint32_t persistent;    ///< persistent requests so far
  int references;         ///< the communicator itself, and operations
} contend_members;

// A blocking call's messages; those of a nonblocking one; those of a persistent one. Every library
// has tags up to 32767.
#define CONTEND_TAG 0
#define CONTEND_FIRST_TAG 1
#define CONTEND_TAGS 16000
#define CONTEND_FIRST_PERSISTENT_TAG (CONTEND_FIRST_TAG + CONTEND_TAGS)

bool contend_start_members(void);
/// What is known of a communicator, NULL before it was made ready.
contend_members* contend_known_members(MPI_Comm comm);
/// Makes a communicator ready when it is not yet: all its ranks together. NULL when it cannot be.
contend_members* contend_make_ready(MPI_Comm comm);
/// Makes a communicator ready where nonblocking calls may come and the rules have its size.
void contend_prepare(MPI_Comm comm);
void contend_release_members(contend_members* members);
/// Lets go of what belongs to MPI_COMM_WORLD, before MPI ends.
void contend_end_members(void);
/// The plan of a schedule; NULL, on all ranks, where it is not for so many, or where phases by
/// routes are not there. These are made where all ranks are `together` in a call that may wait.
const contend_plan* contend_plan_of(contend_members* members, enum contend_schedule schedule,
                                    bool together);

// ---- routed.c: phases by routes

/// Finds the phases of a communicator, all its ranks together.
void contend_agree_on_phases(contend_members* members);
/// This rank's phases by routes, as far as they are known.
void contend_add_phases_by_routes(const contend_members* members, contend_party* party);
/// Communicators with phases that were found, with kept ones, and without, on this rank as their
/// first.
CONTEND_OWN uint64_t contend_phase_counts[3];

// ---- blocks.c: what is sent to and received from each

enum contend_kind { CONTEND_EVEN, CONTEND_UNEVEN, CONTEND_TYPED };

/// One side of an all-to-all: counts and places of all blocks.
typedef struct {
  char* data;
  int64_t count;              ///< of each block, where even
  const void* counts;         ///< int, or MPI_Count where wide
  const void* places;         ///< int, or MPI_Aint where wide; in extents, or in bytes where typed
  const MPI_Datatype* types;  ///< one for each rank where typed
  MPI_Datatype type;          ///< of all, else
  MPI_Aint extent;
  int64_t size;  ///< bytes of data in one item
} contend_side;

typedef struct {
  enum contend_kind kind;
  bool wide, in_place;
  bool skips_empty;  ///< blocks without data need no message
  contend_side send, receive;
  char* packed;                ///< what is sent in place
  struct contend_block* kept;  ///< where it is, by rank
} contend_blocks;

typedef struct contend_block {
  char* data;
  int64_t count;
  MPI_Datatype type;
} contend_block;

/// Whether a library refuses the arguments of this rank, whatever other ranks do: it has to say so.
bool contend_are_refused(const contend_blocks* blocks, const contend_members* members);
/// Keeps the first error.
static inline void contend_note(int* first, int error) {
  if (*first == MPI_SUCCESS) *first = error;
}
/// Fills in sizes and extents; an error of the library's.
int contend_measure_blocks(contend_blocks* blocks);
/// Bytes that this rank sends to others, over their number.
uint64_t contend_mean_bytes(const contend_blocks* blocks, const contend_members* members);
/// Copies what is to be sent in place, before any of it is overwritten.
int contend_pack(contend_blocks* blocks, const contend_members* members);
void contend_free_packed(contend_blocks* blocks);
/// Copies arrays and keeps datatypes, so that the program may forget them.
int contend_keep(contend_blocks* blocks, int ranks);
void contend_free_kept(contend_blocks* blocks, int ranks);

/// Begins to send the block for a rank, or to receive the one from it; MPI_REQUEST_NULL where it
/// has no message.
int contend_begin_message(const contend_blocks* blocks, const contend_members* members, bool sends,
                          int peer, int tag, MPI_Request* request);
/// Copies this rank's own block.
int contend_copy_own(const contend_blocks* blocks, const contend_members* members, int tag);

// ---- carrying.c

/// Carries out a plan, all of it, with or without its barriers: all ranks must know of these.
int contend_carry(contend_blocks* blocks, contend_members* members, const contend_plan* plan,
                  bool barriers);

// ---- operations.c: what is under way beside the program

CONTEND_OWN int contend_live;  ///< operations under way

/// Gets ready for requests, when MPI begins.
void contend_start_operations(void);

/// Begins what a nonblocking call asks for.
int contend_begin(contend_blocks* blocks, contend_members* members, const contend_plan* plan,
                  MPI_Comm comm, MPI_Request* request);
/// Makes a persistent request.
int contend_make_persistent(contend_blocks* blocks, contend_members* members,
                            const contend_plan* plan, MPI_Comm comm, MPI_Request* request);
/// Sends and receives all that is left to be, as this thread may stay in the library for long.
void contend_release_slowly(void);

/// Lets go of what operations had, before MPI ends.
void contend_end_operations(void);

static inline void contend_release(void) {
  if (__atomic_load_n(&contend_live, __ATOMIC_ACQUIRE)) contend_release_slowly();
}

// ---- passing.c

/// Leads routines that may wait, or complete requests, to this library.
void contend_watch(void);

// ---- communicators.c

/// Leads routines that make communicators to this library, where nonblocking calls are carried.
void contend_watch_communicators(void);

// ---- beginning_and_end.c

/// Several threads may call MPI at a time.
CONTEND_OWN _Atomic bool contend_many_threads;
/// Memory; ends the program when there is none.
void* contend_room(size_t bytes);

// How many calls were carried, by schedule.
CONTEND_OWN bool contend_counting;
void contend_count_slowly(enum contend_schedule schedule);

static inline void contend_count(enum contend_schedule schedule) {
  if (contend_counting) contend_count_slowly(schedule);
}

/// Reports an error of a call on a communicator as the library would.
int contend_fail(MPI_Comm comm, int error);

/// While our messages end: MPICH tells the handler of MPI_COMM_WORLD of an error that ends a
/// request, whichever communicator that is on, so that meanwhile it has one that says nothing.
/// Other threads' errors must be told, so that it keeps its own where there are any.
typedef struct {
  MPI_Errhandler handler;
  bool holds;
} contend_silence;

static inline contend_silence contend_hush(void) {
  contend_silence made = {.holds = false};
#ifndef OPEN_MPI
  made.holds =
      !contend_many_threads && !contend_library.Comm_get_errhandler(MPI_COMM_WORLD, &made.handler);
  if (made.holds) contend_library.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  return made;
}

static inline void contend_speak(contend_silence silence) {
  if (!silence.holds) return;
  contend_library.Comm_set_errhandler(MPI_COMM_WORLD, silence.handler);
  contend_library.Errhandler_free(&silence.handler);
}

#endif
