// The schedules: for one rank, to whom it sends and from whom it receives in each phase. Messages
// meet because all ranks make their plans by the same rule.
#include <stdlib.h>

#include "tuned.h"

// As many messages each way as MPICH sends at a time, and as the probe's algorithms of these names.
#define BATCH 32

contend_plan* contend_new_plan(int phases, int messages) {
  contend_plan* plan = contend_room(sizeof *plan);
  plan->phases = phases;
  plan->in_flight = 0;
  plan->to = contend_room((size_t)messages * sizeof *plan->to);
  plan->from = contend_room((size_t)messages * sizeof *plan->from);
  plan->to_end = contend_room((size_t)phases * sizeof *plan->to_end);
  plan->from_end = contend_room((size_t)phases * sizeof *plan->from_end);
  return plan;
}

void contend_free_plan(contend_plan* plan) {
  if (plan == NULL) return;
  free(plan->to);
  free(plan->from);
  free(plan->to_end);
  free(plan->from_end);
  free(plan);
}

/// Phases of so many messages each way, to ranks further and further on and from ranks further and
/// further back.
static contend_plan* shifting(const contend_members* members, int width) {
  int size = members->size, messages = size - 1;
  contend_plan* plan = contend_new_plan((messages + width - 1) / width, messages);
  for (int places = 1; places < size; places++) {
    plan->to[places - 1] = (members->rank + places) % size;
    plan->from[places - 1] = (members->rank - places + size) % size;
  }
  for (int phase = 0; phase < plan->phases; phase++) {
    int end = (phase + 1) * width;
    plan->to_end[phase] = plan->from_end[phase] = end < messages ? end : messages;
  }
  return plan;
}

/// Pairs that exchange: with rank r xor i, which needs a power of two of ranks, or with that whose
/// rank adds up with this one's to i modulo their number.
static contend_plan* pairing(const contend_members* members, bool exclusive_or) {
  int size = members->size, rank = members->rank, made = 0;
  if (exclusive_or && (size & (size - 1))) return NULL;
  contend_plan* plan = contend_new_plan(size, size - 1);
  for (int phase = 0; phase < size; phase++) {
    int partner = exclusive_or ? rank ^ phase : (phase - rank + size) % size;
    if (partner != rank) plan->to[made] = plan->from[made] = partner, made++;
    plan->to_end[phase] = plan->from_end[phase] = made;
  }
  return plan;
}

/// Adds the ranks on a host, beginning behind as many as come before this rank on its own; they are
/// begun at different ones so.
static int add_host(const contend_members* members, int host, int place, int* peers, int made) {
  int there = 0, first = made;
  for (int rank = 0; rank < members->size; rank++)
    if (members->host_of[rank] == host) there++;
  int index = 0;
  for (int rank = 0; rank < members->size; rank++) {
    if (members->host_of[rank] != host) continue;
    int at = (index++ - place % there + there) % there;
    peers[first + at] = rank;
  }
  // This rank itself is left out.
  int kept = first;
  for (int at = first; at < first + there; at++)
    if (peers[at] != members->rank) peers[kept++] = peers[at];
  return kept;
}

/// In phase i all ranks of a host send to those of the i-th host further on. Source: Kutzner, van
/// der Spoel, Fechner, Lindahl, Schmitt, de Groot, Grubmueller, Speeding up parallel GROMACS on
/// high-latency networks, Journal of Computational Chemistry 28 (2007).
static contend_plan* by_hosts(const contend_members* members) {
  int hosts = members->hosts, own = members->host_of[members->rank], place = 0, to = 0, from = 0;
  for (int rank = 0; rank < members->rank; rank++) place += members->host_of[rank] == own;
  // Where no ranks share a host the phase within hosts is none, and has no barrier behind it.
  int first = members->ranks_per_host == 1;
  contend_plan* plan = contend_new_plan(hosts - first, members->size);
  for (int phase = first; phase < hosts; phase++) {
    to = add_host(members, (own + phase) % hosts, place, plan->to, to);
    from = add_host(members, (own - phase + hosts) % hosts, place, plan->from, from);
    plan->to_end[phase - first] = to;
    plan->from_end[phase - first] = from;
  }
  return plan;
}

static contend_plan* make_plan(contend_members* members, enum contend_schedule schedule) {
  contend_plan* plan;
  switch (schedule) {
    case CONTEND_SHIFT:
    case CONTEND_SHIFT_BARRIER:
      return shifting(members, 1);
    case CONTEND_EXCLUSIVE_OR:
      return pairing(members, true);
    case CONTEND_ONE_FACTOR:
      return pairing(members, false);
    case CONTEND_SCATTERED:
      return shifting(members, BATCH);
    case CONTEND_LINEAR:
      return shifting(members, members->size);
    case CONTEND_IN_FLIGHT:
      plan = shifting(members, BATCH);
      plan->in_flight = BATCH;
      return plan;
    case CONTEND_NODE_ORDERED:
    case CONTEND_NODE_ORDERED_BARRIER:
      return by_hosts(members);
    case CONTEND_ROUTED:
    case CONTEND_ROUTED_BARRIER:
      return contend_routed_plan(members);
    default:
      return NULL;
  }
}

const contend_plan* contend_plan_of(contend_members* members, enum contend_schedule schedule,
                                    bool together) {
  contend_plan** plan = &members->plans[schedule];
  if (*plan) return *plan;
  bool routed = schedule == CONTEND_ROUTED || schedule == CONTEND_ROUTED_BARRIER;
  if (routed && together) contend_agree_on_phases(members);
  *plan = make_plan(members, schedule);
  if (*plan == NULL) return NULL;
  (*plan)->barriers = schedule == CONTEND_SHIFT_BARRIER ||
                      schedule == CONTEND_NODE_ORDERED_BARRIER ||
                      schedule == CONTEND_ROUTED_BARRIER;
  return *plan;
}
