// The search: every message takes the first free phase, and what finds none is brought in by moving
// others. docs/adr/0024 says why.
#include "phases_by_routes.h"

#include <stdlib.h>

#include "phase_board.h"

// Moves that are tried for one message.
#define MOST_TRIES 40
// So many steps of the search between two questions whether it goes on.
#define STEPS 64

typedef struct {
  contend_board board;
  contend_phase_limits limits;
  uint64_t room;    ///< bytes that may still be taken
  uint64_t random;  ///< of the generator splitmix64
  uint32_t* left;   ///< messages without a phase
  uint64_t left_count;
  uint32_t* moved_at;  ///< when each message was last driven out or in
  uint32_t now, steps;
  uint32_t longest_phase, longest_message;
} search;

static bool goes_on(search* running) {
  if (running->limits.goes_on == NULL || running->steps++ % STEPS) return true;
  return running->limits.goes_on(running->limits.data);
}

/// A number below `end` that only depends on those before, on any machine.
static uint32_t below(search* running, uint64_t end) {
  uint64_t mixed = running->random += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return (uint32_t)(((mixed >> 32) * end) >> 32);
}

// ---- the order

/// Ranks in the order of their hosts, and the place of each in it.
static void order_ranks(const contend_resources* resources, uint32_t* by_host, uint32_t* place) {
  uint32_t next = 0;
  for (uint32_t host = 0; host < resources->hosts; host++) {
    uint32_t here = resources->ranks_on[host];
    resources->ranks_on[host] = next;
    next += here;
  }
  for (uint32_t rank = 0; rank < resources->ranks; rank++) {
    place[rank] = resources->ranks_on[resources->host_of_rank[rank]]++;
    by_host[place[rank]] = rank;
  }
}

static int by_load(const void* first, const void* second) {
  uint64_t a = *(const uint64_t*)first, b = *(const uint64_t*)second;
  return a > b ? -1 : a < b;
}

/// For every resource the number of its load among all that there are, the largest first; how many
/// there are.
static uint32_t rank_loads(const contend_resources* resources, uint64_t* loads, uint32_t* level) {
  uint32_t count = 0;
  memcpy(loads, resources->load, resources->count * sizeof *loads);
  qsort(loads, resources->count, sizeof *loads, by_load);
  for (uint32_t index = 0; index < resources->count; index++)
    if (count == 0 || loads[index] != loads[count - 1]) loads[count++] = loads[index];
  for (uint32_t index = 0; index < resources->count; index++) {
    uint64_t* found = bsearch(&resources->load[index], loads, count, sizeof *loads, by_load);
    level[index] = (uint32_t)(found - loads);
  }
  return count;
}

/// Number of the largest load among what a message uses.
static uint32_t level_of(const contend_resources* resources, const uint32_t* level,
                         uint32_t message, uint32_t* used) {
  uint32_t count = contend_find_used(resources, message, used), least = CONTEND_NONE;
  for (uint32_t index = 0; index < count; index++)
    if (level[used[index]] < least) least = level[used[index]];
  return least;
}

/// All messages: those over the fullest channels first, among these shift after shift, with the
/// ranks in the order of their hosts. In regular trees shifts of that order hardly meet.
static enum contend_phases_end order_messages(search* running, uint32_t* ordered, uint32_t* place) {
  const contend_resources* resources = running->board.resources;
  uint32_t ranks = resources->ranks, *used = running->board.used;
  uint32_t* by_host = contend_take_room(&running->room, ranks, sizeof *by_host);
  uint32_t* level = contend_take_room(&running->room, resources->count, sizeof *level);
  uint64_t* next = contend_take_room(&running->room, resources->count + 1, sizeof *next);
  bool room = by_host && level && next, stopped = false;
  if (room) {
    order_ranks(resources, by_host, place);
    uint32_t levels = rank_loads(resources, next, level);
    memset(next, 0, (levels + 1) * sizeof *next);
    // Those of each level are counted, so that each has its room among all.
    for (int placing = 0; placing < 2 && !stopped; placing++) {
      for (uint32_t places = 1; places < ranks && !stopped; places++) {
        stopped = !goes_on(running);
        for (uint32_t at = 0; at < ranks; at++) {
          uint32_t to = at + places < ranks ? at + places : at + places - ranks;
          uint32_t message = by_host[at] * ranks + by_host[to];
          uint32_t here = level_of(resources, level, message, used);
          if (placing)
            ordered[next[here]++] = message;
          else
            next[here + 1]++;
        }
      }
      for (uint32_t here = 0; !placing && here < levels; here++) next[here + 1] += next[here];
    }
  }
  free(by_host);
  free(level);
  free(next);
  if (stopped) return CONTEND_PHASES_STOPPED;
  return room ? CONTEND_PHASES_FOUND : CONTEND_PHASES_TOO_LARGE;
}

/// Puts every message where it finds a free phase, from that of its shift on.
static bool place_all(search* running, const uint32_t* place) {
  contend_board* board = &running->board;
  uint32_t ranks = board->ranks;
  uint64_t messages = running->left_count;
  running->left_count = 0;
  for (uint64_t index = 0; index < messages; index++) {
    uint32_t message = running->left[index];
    uint32_t from = place[message / ranks], to = place[message % ranks];
    uint32_t phase = contend_free_phase(board, message, (to + ranks - from) % ranks - 1);
    if (!goes_on(running)) return false;
    if (phase == CONTEND_NONE)
      running->left[running->left_count++] = message;
    else
      contend_put(board, message, phase);
  }
  return true;
}

// ---- what is left

/// Moves the one message that is in the way to a free phase. Otherwise notes, of such phases, the
/// one whose message has stayed longest.
static bool move_one_on(search* running, uint32_t message) {
  contend_board* board = &running->board;
  uint32_t first = below(running, board->phases) / CONTEND_WORD_BITS, *hindering = board->hindering;
  uint32_t count = contend_find_used(board->resources, message, hindering);
  int tries = 0;
  running->longest_phase = running->longest_message = CONTEND_NONE;
  for (uint32_t step = 0; step < board->words; step++) {
    uint32_t word = (first + step) % board->words;
    contend_hindered here = contend_find_hindered(board, message, hindering, count, word);
    uint64_t alone = here.once & ~here.again & contend_existing(board, word);
    for (; alone != 0; alone &= alone - 1) {
      uint32_t phase = word * CONTEND_WORD_BITS + contend_lowest_bit(alone);
      contend_in_the_way(board, message, phase);
      uint32_t other = board->others[0];
      uint32_t free = tries++ < MOST_TRIES
                          ? contend_free_phase(board, other, below(running, board->phases))
                          : CONTEND_NONE;
      if (free != CONTEND_NONE) {
        contend_take(board, other);
        contend_put(board, other, free);
        contend_put(board, message, phase);
        return true;
      }
      if (running->longest_phase == CONTEND_NONE ||
          running->moved_at[other] < running->moved_at[running->longest_message]) {
        running->longest_phase = phase;
        running->longest_message = other;
      }
    }
  }
  return false;
}

/// The phase with the fewest messages in the way; among these, those that have stayed longest.
static uint32_t cheapest(search* running, uint32_t message) {
  contend_board* board = &running->board;
  uint32_t best = 0, fewest = CONTEND_NONE, first = below(running, board->phases);
  uint64_t earliest = 0;
  for (uint32_t step = 0; step < board->phases; step++) {
    uint32_t phase = (first + step) % board->phases;
    uint32_t count = contend_in_the_way(board, message, phase);
    uint64_t moved = 0;
    for (uint32_t index = 0; index < count; index++)
      moved += running->moved_at[board->others[index]];
    if (count < fewest || (count == fewest && moved < earliest)) {
      fewest = count;
      earliest = moved;
      best = phase;
    }
  }
  return best;
}

/// Takes a phase, and leaves over what is in the way there.
static void drive_out(search* running, uint32_t message) {
  contend_board* board = &running->board;
  uint32_t phase =
      running->longest_phase != CONTEND_NONE ? running->longest_phase : cheapest(running, message);
  uint32_t count = contend_in_the_way(board, message, phase);
  running->now++;
  for (uint32_t index = 0; index < count; index++) {
    uint32_t other = board->others[index];
    contend_take(board, other);
    running->moved_at[other] = running->now;
    running->left[running->left_count++] = other;
  }
  contend_put(board, message, phase);
  running->moved_at[message] = running->now;
}

static void place_one(search* running) {
  uint32_t* drawn = &running->left[below(running, running->left_count)];
  uint32_t message = *drawn;
  *drawn = running->left[--running->left_count];
  uint32_t free =
      contend_free_phase(&running->board, message, below(running, running->board.phases));
  if (free != CONTEND_NONE)
    contend_put(&running->board, message, free);
  else if (!move_one_on(running, message))
    drive_out(running, message);
}

/// Finds phases for messages that found none free, by moving others out of their way: a search for
/// chains of moves without going back. There are more phases when long nothing has got better.
static enum contend_phases_end place_left(search* running) {
  contend_board* board = &running->board;
  // More steps without progress gain a phase at best, in small cases.
  uint64_t patience = 500 + (uint64_t)20 * board->ranks;
  uint64_t fewest_left = running->left_count, idle = 0;
  while (running->left_count) {
    if (!goes_on(running)) return CONTEND_PHASES_STOPPED;
    place_one(running);
    if (running->left_count >= fewest_left && ++idle <= patience) continue;
    if (running->left_count >= fewest_left) {
      uint32_t more = board->phases / 128;
      if (!contend_add_phases(board, more ? more : 1)) return CONTEND_PHASES_TOO_LARGE;
    }
    fewest_left = running->left_count;
    idle = 0;
  }
  return CONTEND_PHASES_FOUND;
}

// ---- the whole

static uint32_t bound_of(const contend_resources* resources) {
  // Two ranks have one partner each. Four have three derangements without pairs that swap: they
  // would have to be circles of all four, of which no three make up all messages.
  uint64_t bound = resources->ranks == 2 || resources->ranks == 4 ? resources->ranks : 0;
  for (uint32_t index = 0; index < resources->count; index++)
    if (resources->load[index] > bound) bound = resources->load[index];
  return (uint32_t)bound;
}

static bool tell(search* running, contend_phases* found) {
  const contend_board* board = &running->board;
  uint64_t numbers = (uint64_t)board->ranks * board->phases, bytes = numbers * sizeof *found->to;
  found->ranks = board->ranks;
  found->count = board->phases;
  found->to = contend_take_room(&running->room, numbers, sizeof *found->to);
  found->from = contend_take_room(&running->room, numbers, sizeof *found->from);
  if (found->to == NULL || found->from == NULL) return false;
  memset(found->to, 0xff, bytes);
  memset(found->from, 0xff, bytes);
  for (uint32_t source = 0; source < board->ranks; source++) {
    for (uint32_t target = 0; target < board->ranks; target++) {
      if (source == target) continue;
      size_t phase = board->phase_of[source * board->ranks + target];
      found->to[(size_t)source * found->count + phase] = (int32_t)target;
      found->from[(size_t)target * found->count + phase] = (int32_t)source;
    }
  }
  return true;
}

void contend_free_phases(contend_phases* phases) {
  free(phases->to);
  free(phases->from);
  phases->to = phases->from = NULL;
}

enum contend_phases_end contend_find_phases(const contend_host_routes* routes,
                                            const uint32_t* host_of_rank, uint32_t ranks,
                                            contend_phase_limits limits, contend_phases* found) {
  search running = {.limits = limits, .room = limits.bytes, .random = 1};
  contend_resources resources;
  uint64_t messages = (uint64_t)ranks * ranks;
  *found = (contend_phases){0};
  bool room = contend_number_resources(&resources, routes, host_of_rank, ranks, &running.room);
  if (room) {
    found->bound = bound_of(&resources);
    room = contend_make_board(&running.board, &resources, found->bound, &running.room);
  }
  uint32_t* place = contend_take_room(&running.room, ranks, sizeof *place);
  running.left = contend_take_room(&running.room, messages, sizeof *running.left);
  running.moved_at = contend_take_room(&running.room, messages, sizeof *running.moved_at);
  running.left_count = ranks ? messages - ranks : 0;
  room = room && place && running.left && running.moved_at;
  enum contend_phases_end end = CONTEND_PHASES_TOO_LARGE;
  if (room) end = order_messages(&running, running.left, place);
  if (end == CONTEND_PHASES_FOUND)
    end = place_all(&running, place) ? place_left(&running) : CONTEND_PHASES_STOPPED;
  if (end == CONTEND_PHASES_FOUND && !tell(&running, found)) end = CONTEND_PHASES_TOO_LARGE;
  if (end != CONTEND_PHASES_FOUND) contend_free_phases(found);
  free(place);
  free(running.left);
  free(running.moved_at);
  contend_free_board(&running.board);
  contend_free_resources(&resources);
  return end;
}
