// The routines that are carried: blocking, nonblocking, persistent; each with counts of int, and
// where there with those of MPI 4.
#include "tuned.h"

/// Whether the rules may have a schedule for so many bytes between the ranks of a communicator:
/// what a call that they do not cover costs.
static inline bool may_cover(MPI_Comm comm, int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  int ranks = 0;
  if (count < 0 || comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL) return false;
  if (contend_library.Type_size_x(type, &size) || size < 0) return false;
  if (!contend_within(contend_rules.bytes, (uint64_t)count * (uint64_t)size)) return false;
  return !contend_library.Comm_size(comm, &ranks) &&
         contend_within(contend_rules.ranks, (uint64_t)ranks);
}

static inline bool may_cover_ranks(MPI_Comm comm) {
  int ranks = 0;
  return comm != MPI_COMM_NULL && !contend_library.Comm_size(comm, &ranks) &&
         contend_within(contend_rules.ranks, (uint64_t)ranks);
}

/// How a call is to be carried; plan NULL when it is not.
typedef struct {
  contend_members* members;
  const contend_plan* plan;
  enum contend_schedule schedule;
} carriage;

/// Blocks of even size: their bytes are the same on all ranks, and so is what is found.
///
/// The counts of others are not known where blocks differ. Then whether a call is carried depends
/// on the ranks alone, and only how many messages are under way at a time on this rank's own
/// blocks: by the schedule, or all at once where they are of another size than its rules are for.
/// Ranks that send all at once never keep those waiting that go by phases. In a call that may wait
/// all ranks are `together`.
static carriage carriage_of(contend_blocks* blocks, contend_members* members, bool together) {
  carriage none = {.schedule = CONTEND_LIBRARYS_OWN}, found = {.members = members};
  if (members == NULL || members->passes) return none;
  if (contend_are_refused(blocks, members) || contend_measure_blocks(blocks)) return none;
  if (blocks->kind == CONTEND_EVEN) {
    uint64_t bytes = (uint64_t)blocks->receive.count * (uint64_t)blocks->receive.size;
    found.schedule = contend_schedule_for(members->size, members->ranks_per_host, bytes);
  } else {
    found.schedule = contend_uneven_schedule(members->size, members->ranks_per_host);
    if (found.schedule != CONTEND_LIBRARYS_OWN &&
        !contend_plan_of(members, found.schedule, together))
      return none;
    if (found.schedule != CONTEND_LIBRARYS_OWN) {
      uint64_t bytes = contend_mean_bytes(blocks, members);
      if (contend_schedule_for(members->size, members->ranks_per_host, bytes) != found.schedule)
        found.schedule = CONTEND_LINEAR;
    }
  }
  if (found.schedule == CONTEND_LIBRARYS_OWN) return none;
  found.plan = contend_plan_of(members, found.schedule, together);
  return found.plan ? found : none;
}

static int carried(contend_blocks* blocks, const carriage* by, MPI_Comm comm) {
  contend_count(by->schedule);
  bool alike = blocks->kind == CONTEND_EVEN;
  int result = contend_carry(blocks, by->members, by->plan, alike && by->plan->barriers);
  return result ? contend_fail(comm, result) : MPI_SUCCESS;
}

#define OPEN(...) __VA_ARGS__

#define COUNT int
#define PLACE int
#define WIDE false
#define NAMED(routine) routine
#include "alltoalls.h"
#if CONTEND_BIG_COUNTS
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define WIDE true
#define NAMED(routine) routine##_c
#include "alltoalls.h"
#endif
