/// Which message uses what in which phase, in bits and by name, and in which phase every message
/// is. Memory: O(resources * phases + ranks^2).
#ifndef CONTEND_SCHEDULES_PHASE_BOARD_H
#define CONTEND_SCHEDULES_PHASE_BOARD_H

#include "phase_resources.h"

#define CONTEND_WORD_BITS 64

typedef struct {
  const contend_resources* resources;
  uint32_t ranks, phases;
  uint32_t words;                                ///< of bits, one for each phase
  uint64_t* busy;                                ///< bits of phases in which a resource is used
  uint32_t* user;                                ///< the message that uses a resource in a phase
  uint32_t* phase_of;                            ///< every message's phase; CONTEND_NONE for none
  uint64_t* left;                                ///< memory
  uint32_t *placed, *used, *hindering, *others;  ///< room for what is found on the way
} contend_board;

/// Phases in which something is in a message's way, and those in which something else is too.
typedef struct {
  uint64_t once, again;
} contend_hindered;

/// False where there is no room.
bool contend_make_board(contend_board* made, const contend_resources* resources, uint32_t phases,
                        uint64_t* left);
void contend_free_board(contend_board* board);
bool contend_add_phases(contend_board* board, uint32_t more);

void contend_put(contend_board* board, uint32_t message, uint32_t phase);
void contend_take(contend_board* board, uint32_t message);

/// The next phase from `first` on, around the end, in which nothing is in a message's way;
/// CONTEND_NONE for none. O(channels of its route * phases / 64).
uint32_t contend_free_phase(contend_board* board, uint32_t message, uint32_t first);
/// The messages in a message's way in a phase, in board->others; O(channels of its route).
uint32_t contend_in_the_way(contend_board* board, uint32_t message, uint32_t phase);

static inline uint32_t contend_opposite(const contend_board* board, uint32_t message) {
  return message % board->ranks * board->ranks + message / board->ranks;
}

static inline uint64_t contend_phase_bit(uint32_t phase) {
  return (uint64_t)1 << phase % CONTEND_WORD_BITS;
}

/// The phases of a word that there are.
static inline uint64_t contend_existing(const contend_board* board, uint32_t word) {
  uint32_t before = word * CONTEND_WORD_BITS;
  uint32_t left = board->phases > before ? board->phases - before : 0;
  return left >= CONTEND_WORD_BITS ? UINT64_MAX : ((uint64_t)1 << left) - 1;
}

/// Of a word of phases, for a message and what it uses.
static inline contend_hindered contend_find_hindered(const contend_board* board, uint32_t message,
                                                     const uint32_t* used, uint32_t count,
                                                     uint32_t word) {
  contend_hindered found = {0, 0};
  for (uint32_t index = 0; index < count; index++) {
    uint64_t phases = board->busy[(size_t)used[index] * board->words + word];
    found.again |= found.once & phases;
    found.once |= phases;
  }
  uint32_t banned = board->phase_of[contend_opposite(board, message)];
  if (banned != CONTEND_NONE && banned / CONTEND_WORD_BITS == word) {
    found.again |= found.once & contend_phase_bit(banned);
    found.once |= contend_phase_bit(banned);
  }
  return found;
}

static inline uint32_t contend_lowest_bit(uint64_t word) { return (uint32_t)__builtin_ctzll(word); }

#endif
