#include "schedules.h"

const contend_schedule_traits contend_schedules[CONTEND_SCHEDULES] = {
    [CONTEND_LINEAR] = {"linear", "starts all Irecv and all Isend, then waits for all", "", false,
                        false, false},
    [CONTEND_SCATTERED] = {"scattered",
                           "batches of Irecv and Isend, waiting for each before the next",
                           CONTEND_BY_BATCH, false, false, false},
    [CONTEND_IN_FLIGHT] = {"inflight",
                           "keeps some Irecv and Isend in flight; as one ends, the next starts",
                           CONTEND_BY_WINDOW, false, false, false},
    [CONTEND_SHIFT] = {"shift", "in phase i Sendrecv to rank r + i and from rank r - i", "", true,
                       false, false},
    [CONTEND_SHIFT_BARRIER] = {"shift-barrier", "shift with a barrier between its phases", "", true,
                               true, false},
    [CONTEND_EXCLUSIVE_OR] = {"xor", "in phase i Sendrecv with rank r xor i", "", true, false,
                              true},
    [CONTEND_ONE_FACTOR] = {"one-factor", "in phase i Sendrecv with rank (i - r) mod p", "", true,
                            false, false},
    [CONTEND_ROUTED] = {"routed",
                        "in phases in which no two messages share a channel, as --phases has them",
                        CONTEND_BY_PHASES, true, false, false},
    [CONTEND_ROUTED_BARRIER] = {"routed-barrier", "routed with a barrier between its phases",
                                CONTEND_BY_PHASES, true, true, false},
    [CONTEND_NODE_ORDERED] = {"node-ordered",
                              "in phase i Irecv from every rank of node n - i, Isend to those of "
                              "n + i",
                              CONTEND_BY_NODES, false, false, false},
    [CONTEND_NODE_ORDERED_BARRIER] = {"node-ordered-barrier",
                                      "node-ordered with a barrier between its phases",
                                      CONTEND_BY_NODES, false, true, false},
};

/// The arrays of a plan while they are written.
typedef struct {
  int *to, *from, *to_end, *from_end;
} arrays;

static int within(int number, int modulus) { return (number % modulus + modulus) % modulus; }

static int least(int one, int other) { return one < other ? one : other; }

/// Messages each way in a phase of a schedule that goes from place to place.
static int width_of(enum contend_schedule schedule, const contend_party* party) {
  if (schedule == CONTEND_LINEAR) return party->ranks;
  if (schedule == CONTEND_SCATTERED || schedule == CONTEND_IN_FLIGHT) return party->width;
  return 1;
}

/// Whether no ranks share a host. Then the phase within hosts is none, and no barrier follows it.
static bool all_alone(const contend_party* party) { return party->hosts == party->ranks; }

/// Whether phases have as many messages each way as a rank has others.
static bool are_whole(const contend_party* party) {
  int to = 0, from = 0;
  for (int phase = 0; phase < party->phases; phase++) {
    if (party->phase_to[phase] >= party->ranks || party->phase_from[phase] >= party->ranks)
      return false;
    to += party->phase_to[phase] >= 0;
    from += party->phase_from[phase] >= 0;
  }
  return to == party->ranks - 1 && from == party->ranks - 1;
}

int contend_count_phases(enum contend_schedule schedule, const contend_party* party) {
  int ranks = party->ranks, width = width_of(schedule, party);
  switch (schedule) {
    case CONTEND_EXCLUSIVE_OR:
      return ranks & (ranks - 1) ? -1 : ranks - 1;
    case CONTEND_ONE_FACTOR:
      return ranks;
    case CONTEND_ROUTED:
    case CONTEND_ROUTED_BARRIER:
      return are_whole(party) ? party->phases : -1;
    case CONTEND_NODE_ORDERED:
    case CONTEND_NODE_ORDERED_BARRIER:
      return party->hosts - all_alone(party);
    default:
      return (ranks - 1) / width + ((ranks - 1) % width != 0);
  }
}

/// So many messages each way in a phase, to ranks further and further on and from ranks further and
/// further back.
static void go_around(const contend_party* party, int width, int phases, arrays write) {
  int messages = party->ranks - 1;
  for (int places = 1; places <= messages; places++) {
    write.to[places - 1] = within(party->rank + places, party->ranks);
    write.from[places - 1] = within(party->rank - places, party->ranks);
  }
  for (int phase = 0, left = messages; phase < phases; phase++) {
    left -= least(left, width);
    write.to_end[phase] = write.from_end[phase] = messages - left;
  }
}

/// Pairs that exchange: with rank r xor i, or with that whose sum with this one is i modulo the
/// number of ranks: each meets every other one once, for any number, and itself in one phase, in
/// which it has no message.
static void pair_up(const contend_party* party, bool exclusive_or, int phases, arrays write) {
  int made = 0;
  for (int phase = 0; phase < phases; phase++) {
    int partner =
        exclusive_or ? party->rank ^ (phase + 1) : within(phase - party->rank, party->ranks);
    if (partner != party->rank) {
      write.to[made] = write.from[made] = partner;
      made++;
    }
    write.to_end[phase] = write.from_end[phase] = made;
  }
}

static void follow(const int* peers, int phases, int* list, int* end) {
  for (int phase = 0, made = 0; phase < phases; phase++) {
    if (peers[phase] >= 0) list[made++] = peers[phase];
    end[phase] = made;
  }
}

static void reverse(int* list, int count) {
  for (int low = 0, high = count - 1; low < high; low++, high--) {
    int kept = list[low];
    list[low] = list[high];
    list[high] = kept;
  }
}

/// The ranks of a list that a number of places leads to come first.
static void turn(int* list, int count, int places) {
  reverse(list, places);
  reverse(list + places, count - places);
  reverse(list, count);
}

/// All other ranks, those of a host together: hosts further and further on, or `back`, each begun
/// behind as many ranks as come before this one on its own host. Phases are counted from `first`.
static void list_hosts(const contend_party* party, bool back, int first, int* list, int* end) {
  int own = party->host_of[party->rank], place = 0, phases = party->hosts - first;
  for (int rank = 0; rank < party->rank; rank++) place += party->host_of[rank] == own;
  for (int phase = 0; phase < phases; phase++) end[phase] = 0;
  for (int pass = 0; pass < 2; pass++) {
    // Ranks are counted, and then put behind the ends of the phases before theirs.
    for (int rank = 0; rank < party->ranks; rank++) {
      if (rank == party->rank) continue;
      int on = back ? own - party->host_of[rank] : party->host_of[rank] - own;
      int phase = within(on, party->hosts) - first;
      if (pass) list[end[phase]] = rank;
      end[phase]++;
    }
    for (int phase = 0, begin = 0; phase < phases && !pass; phase++) {
      int count = end[phase];
      end[phase] = begin;
      begin += count;
    }
  }
  for (int phase = 0, begin = 0; phase < phases; begin = end[phase++])
    if (end[phase] > begin) turn(list + begin, end[phase] - begin, place % (end[phase] - begin));
}

contend_plan contend_make_plan(enum contend_schedule schedule, const contend_party* party,
                               int* numbers) {
  const contend_schedule_traits* traits = &contend_schedules[schedule];
  int phases = contend_count_phases(schedule, party), others = party->ranks - 1, own = -1;
  arrays write = {numbers, numbers + others, numbers + 2 * others, numbers + 2 * others + phases};
  switch (schedule) {
    case CONTEND_EXCLUSIVE_OR:
      pair_up(party, true, phases, write);
      break;
    case CONTEND_ONE_FACTOR:
      pair_up(party, false, phases, write);
      own = within(2 * party->rank, party->ranks);
      break;
    case CONTEND_ROUTED:
    case CONTEND_ROUTED_BARRIER:
      follow(party->phase_to, phases, write.to, write.to_end);
      follow(party->phase_from, phases, write.from, write.from_end);
      break;
    // All ranks of a host send to those of the i-th host further on, so that a host's port carries
    // one host's messages at a time. Source: Kutzner, van der Spoel, Fechner, Lindahl, Schmitt,
    // de Groot, Grubmueller, Speeding up parallel GROMACS on high-latency networks, Journal of
    // Computational Chemistry 28 (2007).
    case CONTEND_NODE_ORDERED:
    case CONTEND_NODE_ORDERED_BARRIER:
      list_hosts(party, false, all_alone(party), write.to, write.to_end);
      list_hosts(party, true, all_alone(party), write.from, write.from_end);
      own = all_alone(party) ? -1 : 0;
      break;
    default:
      go_around(party, width_of(schedule, party), phases, write);
      if (schedule == CONTEND_LINEAR || schedule == CONTEND_IN_FLIGHT) own = phases ? 0 : -1;
  }
  return (contend_plan){
      .phases = phases,
      .to = write.to,
      .from = write.from,
      .to_end = write.to_end,
      .from_end = write.from_end,
      .own = own,
      .in_flight = schedule != CONTEND_IN_FLIGHT ? 0 : least(party->width, party->ranks),
      .paired = traits->paired,
      .barriers = traits->barriers};
}
