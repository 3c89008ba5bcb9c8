/// What a rank leaves: one file, `rank-000000.record`, or `rank-000000-2.record` and so on where
/// another program of the same command has left that. It is mapped into the rank's memory, so that
/// what was recorded outlives the process whatever ends it. Its size is set when MPI starts and
/// never grows: a section that is full counts what it could not keep, in `lost`. Of the memory that
/// a rank may use (16 MiB unless CONTEND_PROFILE_MEMORY gives a number of bytes), modules and
/// communicators get 1/128 each, members and cells 1/16 each and a cell for each routine,
/// collectives 1/8, threads 20 KiB, and events the rest; peers come on top. Calls for which there
/// is no cell of their own count in that of their routine, of CONTEND_ALL_SIZES on CONTEND_OTHERS
/// from no place.
///
/// Layout: `contend_header` at offset 0, then the sections in the order of `contend_section_kind`,
/// each at `sections[kind].offset`, 64-byte aligned, holding `capacity` items of `item_bytes`, of
/// which the first `used` are valid (a reader checks all of them against the size of the file).
/// Integers are the machine's own (little endian where contend runs); times are ticks of one
/// counter that `clock` maps onto the host's CLOCK_MONOTONIC.
#ifndef CONTEND_TRACER_RECORD_H
#define CONTEND_TRACER_RECORD_H

#include <stdint.h>

#define CONTEND_MAGIC "contendR"
#define CONTEND_RECORD_VERSION 10u
/// Beside the records: the path of the ranks' library, where the recorder is another's.
#define CONTEND_OTHER_LIBRARY "other-library"
/// Likewise: how names of files begin that say, by their ends, a number of errno's, why ranks have
/// no record.
#define CONTEND_UNRECORDED "unrecorded-"
#define CONTEND_NO_PEER (-1)       ///< the call has no peer, or the peer is outside MPI_COMM_WORLD
#define CONTEND_ANY_PEER (-2)      ///< of an awaited message: any source
#define CONTEND_FOREIGN_PEER (-3)  ///< of an awaited message: a peer outside MPI_COMM_WORLD
#define CONTEND_INVALID_PEER \
  (-4)  ///< likewise: a rank that the communicator has not: `number` of `bytes`
#define CONTEND_ANY_TAG (-1)
#define CONTEND_UNKNOWN_BYTES UINT64_MAX
#define CONTEND_NO_CALL UINT32_MAX  ///< a thread is in no call
#define CONTEND_NO_REQUEST 0u
#define CONTEND_DEATH_CALLS 24
#define CONTEND_WORLD 0u  ///< index of MPI_COMM_WORLD among communicators
#define CONTEND_SELF 1u   ///< index of MPI_COMM_SELF
#define CONTEND_ALL_SIZES 255u
#define CONTEND_NO_NUMBER ((1u << 30) - 1)  ///< of an event whose place in an order is not known
#define CONTEND_OTHERS 2u                   ///< stands for communicators that no longer fitted

enum contend_state {
  CONTEND_RUNNING = 0,   ///< still running, or killed: nobody was left to say more
  CONTEND_FINISHED = 1,  ///< MPI_Finalize was reached, or the last session was finalized
  CONTEND_ABORTED = 2,   ///< this rank called MPI_Abort, with `exit_code`
  CONTEND_EXITED = 3,    ///< the process ended through exit() without MPI_Finalize
};

enum contend_section_kind {
  CONTEND_ROUTINES,       ///< char: names of routines, each ended by a newline; by index
  CONTEND_MODULES,        ///< char: lines of /proc/self/maps that are executable, as they are; and
                          ///< such lines with the word `source` of files in Python, of which each
                          ///< line is a byte
  CONTEND_COMMUNICATORS,  ///< contend_communicator
  CONTEND_MEMBERS,        ///< int32_t: ranks in MPI_COMM_WORLD, CONTEND_NO_PEER for others
  CONTEND_CELLS,          ///< contend_cell
  CONTEND_PEERS,          ///< contend_peer, one for each rank of MPI_COMM_WORLD
  CONTEND_COLLECTIVES,    ///< contend_collective
  CONTEND_THREADS,        ///< contend_under_way, one for each thread that has called MPI
  CONTEND_EVENTS,         ///< contend_event
  CONTEND_SECTIONS
};

typedef struct {
  uint64_t offset;    ///< bytes from the beginning of the file
  uint64_t capacity;  ///< items that fit
  uint64_t used;      ///< items that are there
  uint64_t lost;      ///< items that did not fit any more (calls, for cells and events)
  uint64_t item_bytes;
} contend_section;

/// This rank's clock against its parent's in a binomial tree (parent of r: r with its lowest set
/// bit cleared; rank 0 has none), once after MPI_Init and once before MPI_Finalize (`known` 0, 1,
/// 2).
typedef struct {
  int64_t at_ns;           ///< this host's CLOCK_MONOTONIC
  int64_t offset_ns;       ///< parent's clock minus this one's
  int64_t uncertainty_ns;  ///< half of the quickest round trip
} contend_offset;

typedef struct {
  uint64_t start_ticks,
      end_ticks;             ///< counter and CLOCK_MONOTONIC read together, at MPI_Init's end (or
                             ///< MPI_Session_init's, which came first) ...
  int64_t start_ns, end_ns;  ///< ... and at the end (or at the last chunk of work before it)
  uint64_t begun_ticks;      ///< when MPI_Init was entered
  int64_t start_unix_ns;  ///< CLOCK_REALTIME with `start_ns`, to be compared with other programs'
  contend_offset offsets[2];
  uint32_t known;
  int32_t parent;  ///< -1 for rank 0
} contend_clock;

typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  ///< sizeof(contend_header)
  int32_t rank, size;     ///< in MPI_COMM_WORLD
  int64_t pid;
  uint32_t state;  ///< contend_state
  int32_t exit_code;
  uint32_t thread_level;       ///< MPI_THREAD_...: 0 single, 1 funneled, 2 serialized, 3 multiple
  uint32_t fortran_calls;      ///< whether any call came through the Fortran interface
  uint32_t collective_stride;  ///< occurrences of which (turn + number) % stride == 0 are in
                               ///< CONTEND_COLLECTIVES
  uint32_t requests_lost;      ///< requests that were under way beyond the table's capacity
  uint32_t spawned;            ///< whether MPI_Comm_spawn or the like has started these ranks
  uint32_t spawns;             ///< calls of MPI_Comm_spawn and the like that this rank has begun
  char host[64];
  char library[256];  ///< first line of MPI_Get_library_version
  char program[256];  ///< /proc/self/exe
  char launch[192];   ///< which ranks began together: a word of their launcher's, a space, and the
                      ///< word of their rank 0, which is absent where that was not seen
  uint64_t died;      ///< ticks when a signal or an error came that may have been the end; or 0
  uint64_t died_at;   ///< behind the instruction at which the signal came; 0 for a jump to no code
  uint32_t signal;    ///< or 0 for an error
  uint32_t died_thread;  ///< by first call; UINT32_MAX for one that had called nothing
  char error[32];        ///< its class, as MPI calls it
  uint64_t died_by[CONTEND_DEATH_CALLS];  ///< return addresses that led to the signal, the nearest
                                          ///< first; 0 behind the last
  char died_file[252];                    ///< of Python, or ""
  uint32_t died_line;
  uint64_t told;           ///< ticks when another process told this one to end; or 0
  uint32_t errors;         ///< that MPI has handed to handlers, those that end the program too
  uint32_t error_routine;  ///< of the first of them
  uint64_t error_site;     ///< return address of its call
  char first_error[32];    ///< its class
  uint64_t
      whole;  ///< events from the first one on behind which some are left out, if any are lost:
  uint64_t least;  ///< those whose calls, and the silence before them, took fewer ticks than this
  contend_clock clock;
  contend_section sections[CONTEND_SECTIONS];
} contend_header;

enum contend_communicator_kind {
  CONTEND_INTRA,
  CONTEND_CARTESIAN,
  CONTEND_GRAPH,
  CONTEND_DIST_GRAPH,
  CONTEND_INTER,
  CONTEND_WINDOW  ///< a window's: its fences are its collectives
};

typedef struct {
  uint64_t id;           ///< same on all members: hash of parent's id, creating routine, members,
                         ///< topology, and how many such there were before: after the first few
                         ///< all have the last one's
  uint32_t parent;       ///< index; of MPI_COMM_WORLD for none
  uint32_t kind;         ///< contend_communicator_kind
  uint32_t size;         ///< members (of the remote group for CONTEND_INTER)
  int32_t rank;          ///< this rank in it
  uint64_t members;      ///< first item in CONTEND_MEMBERS; UINT64_MAX when they did not fit
  uint32_t collectives;  ///< that this rank has left, or begun where they do not wait
  uint32_t dimensions;   ///< of a Cartesian one
  int32_t extent[8];     ///< of a window locks that this rank has, by `contend_lock_of`, and 0;
                         ///< `dimensions` counts those for which there was no room
  uint32_t more;         ///< how many communicators of this id there have been
  char name[36];         ///< as set by MPI_Comm_set_name
} contend_communicator;

/// A lock by its target's rank in MPI_COMM_WORLD, CONTEND_ANY_PEER for all targets.
#define contend_lock_of(target, exclusive) (2 * ((target) + 3) + (exclusive))

/// Calls of one routine from one place on one communicator with one class of size.
typedef struct {
  uint64_t site;          ///< return address in the program
  uint32_t communicator;  ///< index
  uint16_t routine;       ///< index
  uint16_t size_class;    ///< bits that the number of bytes has: 0 for 0, 1 for 1, 2 for 2-3, ...;
                          ///< or CONTEND_ALL_SIZES
  uint64_t calls;
  uint64_t bytes;    ///< what this rank gave to be sent (for receives: what arrived)
  uint64_t ticks;    ///< in the call, all calls together
  uint64_t longest;  ///< ticks
} contend_cell;

/// What this rank sent to another, and took from it.
typedef struct {
  uint64_t bytes, messages;                        ///< point to point
  uint64_t collective_bytes, collective_messages;  ///< where the routine's definition says who gets
                                                   ///< what: all-to-alls, neighbourhoods, roots
  uint64_t one_sided_bytes, one_sided_operations;  ///< put, accumulate and the like
  uint64_t taken_bytes, taken_operations;          ///< get
} contend_peer;

/// One blocking collective of which all members keep the same occurrences.
typedef struct {
  uint64_t entry, exit;   ///< ticks
  uint32_t communicator;  ///< index
  uint32_t number;        ///< of the collective on this communicator, from 0
  uint32_t cell;          ///< index
  uint32_t turn;          ///< of communicators with this index, which one, from 0
} contend_collective;

/// What a call that has not returned waits for.
enum contend_awaited_kind {
  CONTEND_AWAITS_UNKNOWN,   ///< of a request that is not followed
  CONTEND_AWAITS_RECEIVER,  ///< of a message to `peer`
  CONTEND_AWAITS_SENDER,    ///< of a message from `peer`
  CONTEND_AWAITS_MEMBERS,   ///< of collective `number` on the communicator
  CONTEND_AWAITS_TARGET,    ///< of one-sided communication, `peer`; `tag` is 1 for an exclusive
                            ///< lock of it, 0 for a shared one, and CONTEND_ANY_TAG without one
  CONTEND_AWAITS_FINALIZE,  ///< all ranks, in MPI_Finalize
  CONTEND_AWAITS_EXCHANGE,  ///< both of a request that sends to `peer` and receives, of which there
                            ///< was no room for both
  CONTEND_AWAITS_READY,     ///< its own partitions, of a message to `peer`: `number` of `bytes` are
                            ///< marked
  CONTEND_AWAITS_POST,      ///< MPI_Win_post of `peer`, for this rank
  CONTEND_AWAITS_COMPLETE,  ///< MPI_Win_complete of `peer`, which this rank's MPI_Win_post allowed
  CONTEND_AWAITS_GROUP,     ///< the same call of `peer`, with the same tag; `number` is 1 for the
                            ///< leader of its group, on whom all others wait until it goes on
};

typedef struct {
  uint32_t kind;          ///< contend_awaited_kind
  int32_t peer, tag;      ///< of a collective: its root, and its contend_operation
  uint32_t communicator;  ///< index
  uint32_t number;
  uint32_t routine;  ///< of a collective: index of what it was begun by
  uint64_t bytes;    ///< of a collective: what must be alike on all members, or
                     ///< CONTEND_UNKNOWN_BYTES
} contend_awaited;

/// Operations of reductions, which all members must give alike.
enum contend_operation {
  CONTEND_NO_OPERATION,
  CONTEND_SUM,
  CONTEND_MAX,
  CONTEND_MIN,
  CONTEND_PROD,
  CONTEND_LAND,
  CONTEND_BAND,
  CONTEND_LOR,
  CONTEND_BOR,
  CONTEND_LXOR,
  CONTEND_BXOR,
  CONTEND_MAXLOC,
  CONTEND_MINLOC,
  CONTEND_REPLACE,
  CONTEND_OWN_OPERATION  ///< of the program's
};

enum { CONTEND_AWAITED = 8 };

/// The call that a thread is in, written before the call goes to the library: what is left of a
/// rank that hung. The first few things that it waits for are kept.
typedef struct {
  uint64_t start;    ///< ticks; of the call, or of the last one
  uint64_t left;     ///< ticks when the last call returned
  uint64_t site;     ///< return address in the program
  uint32_t routine;  ///< index, or CONTEND_NO_CALL
  uint32_t count;    ///< what it waits for, of which `awaited` holds the first
  uint64_t asking;   ///< ticks when it began to ask again and again, in vain ...
  uint64_t
      asked_left;  ///< ... and when it last got no answer: the last call was that if it is `left`
  uint32_t asked;  ///< index of the routine that it asked with
  uint32_t asked_for;  ///< how many things, as `awaited`; 0 for different ones in turn
  contend_awaited awaited[CONTEND_AWAITED];
} contend_under_way;

enum contend_event_kind {
  CONTEND_CALL,        ///< a call; its routine, communicator and site are its cell's
  CONTEND_COMPLETION,  ///< a request that the preceding call completed, with the actual
                       ///< peer, tag and bytes of a receive; `cell` is that of what began it
  CONTEND_PART,        ///< bytes to one peer in the preceding call (v, w, neighbours,
                       ///< the sending half of a Sendrecv is the call itself, the
                       ///< receiving half a part with `role` 1; of an Isendrecv that is where
                       ///< it receives from), or a rank that MPI_Win_post, _start, _complete or
                       ///< _wait is about
};

/// What happened, in order, so that the program's communication can be carried out again on another
/// network. When the section is full, the first half stays as it is. The second keeps from then on
/// what took longest, of which each lateness of another rank is a part: calls, with all that they
/// completed, and messages before which a flow, which is all messages in one direction to or from a
/// rank with one tag on one communicator, had been silent. The k-th message of a flow that is sent
/// is the k-th that is received.
typedef struct {
  uint64_t start,
      end;  ///< ticks; of the call, or from where its thread began to ask again and again
  uint64_t bytes;
  uint32_t cell;     ///< index; of the preceding call for parts
  int32_t peer;      ///< destination, source (CONTEND_NO_PEER: any source), or root
  int32_t tag;       ///< of a collective: its contend_operation; of a lock as `contend_awaited`
  uint32_t request;  ///< number of the request that the call made, from 1; or completed
  uint8_t kind;      ///< contend_event_kind
  uint8_t weight;    ///< bits that the ticks of the call, or of the silence before it, have
  uint16_t thread;   ///< from 0, by first call
  uint32_t turn;  ///< its lowest two bits are its role: of the receiving half of a Sendrecv 1; of
                  ///< a request that is started or completed 0 for a send, 1 for a receive, 2
                  ///< for a collective; the others its number from 0: of a message in its flow,
                  ///< of a collective on the communicator; or CONTEND_NO_NUMBER
} contend_event;

#endif
