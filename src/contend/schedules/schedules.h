/// Schedules of an all-to-all in which every block goes straight to the rank that it is for: to
/// whom a rank sends and from whom it receives, in order, and what ends a phase.
///
/// In C and by itself: the probe, the drop-in all-to-all and the core's model compile these files,
/// so that what is measured, what is carried and what is predicted are the same. Messages meet
/// because all ranks make their plans by the same rule.
#ifndef CONTEND_SCHEDULES_SCHEDULES_H
#define CONTEND_SCHEDULES_SCHEDULES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum contend_schedule {
  CONTEND_LINEAR,
  CONTEND_SCATTERED,
  CONTEND_IN_FLIGHT,
  CONTEND_SHIFT,
  CONTEND_SHIFT_BARRIER,
  CONTEND_EXCLUSIVE_OR,
  CONTEND_ONE_FACTOR,
  CONTEND_ROUTED,
  CONTEND_ROUTED_BARRIER,
  CONTEND_NODE_ORDERED,
  CONTEND_NODE_ORDERED_BARRIER,
  CONTEND_SCHEDULES
};

// What else a schedule depends on.
#define CONTEND_BY_BATCH "batch"
#define CONTEND_BY_WINDOW "in-flight"
#define CONTEND_BY_NODES "ranks-per-node"
#define CONTEND_BY_PHASES "phases"

/// Messages each way in a batch or in flight, where nobody says otherwise: as many as MPICH sends
/// at a time.
#define CONTEND_WIDTH 32
/// The base in which bruck, which forwards blocks and so is none of these, writes distances.
#define CONTEND_RADIX 2

typedef struct {
  const char* name;  ///< in commands, rules and samples
  const char* summary;
  const char* option;  ///< one of the above, or ""
  bool paired;         ///< a phase is one message each way at most, which is one MPI_Sendrecv
  bool barriers;       ///< between phases
  bool power_of_two;   ///< the number of ranks must be one
} contend_schedule_traits;
extern const contend_schedule_traits contend_schedules[CONTEND_SCHEDULES];

/// A rank among others.
typedef struct {
  int rank, ranks;
  int width;           ///< by batch or window: messages each way at a time, 1 at least
  int hosts;           ///< by nodes
  const int* host_of;  ///< likewise: the host of each rank, from 0
  int phases;          ///< by phases: their number, or -1 where they are not known
  const int *phase_to, *phase_from;  ///< likewise: the rank in each, -1 for none
} contend_party;

/// A rank's messages: in phase i it sends to to[to_end[i - 1]] .. to[to_end[i] - 1], and receives
/// likewise. Its own block is not among them.
typedef struct contend_plan {
  int phases;
  const int *to, *from;
  const int *to_end, *from_end;
  /// While the messages of this phase are under way a rank copies its own block; -1: before all.
  int own;
  /// Where above 0, phases need not end: as a message ends, the next of its direction may begin, so
  /// many each way at a time. The i-th message to a rank is the i-th that it receives, so that
  /// among all that have not ended the first is under way at both its ends: none waits for ever.
  int in_flight;
  bool paired, barriers;  ///< as the traits have them
} contend_plan;

/// How many phases a schedule has; -1, on all ranks, where it is not for so many, or where its
/// phases are not known or are no all-to-all. O(phases).
int contend_count_phases(enum contend_schedule schedule, const contend_party* party);

/// How many numbers a plan of so many phases has.
static inline size_t contend_plan_numbers(const contend_party* party, int phases) {
  return 2 * ((size_t)party->ranks - 1) + 2 * (size_t)phases;
}

/// The plan of a schedule that has phases, laid out in `numbers`. O(ranks + phases).
contend_plan contend_make_plan(enum contend_schedule schedule, const contend_party* party,
                               int* numbers);

#ifdef __cplusplus
}
#endif

#endif
