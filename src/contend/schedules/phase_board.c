#include "phase_board.h"

#include <stdlib.h>

/// Room for so many phases; what is placed stays where it is.
static bool make_room(contend_board* board, uint32_t phases) {
  uint32_t words = (phases + CONTEND_WORD_BITS - 1) / CONTEND_WORD_BITS;
  if (words == 0) words = 1;
  uint64_t bits = (uint64_t)board->resources->count * words;
  uint64_t users = bits * CONTEND_WORD_BITS;
  // What there was is given back first, as it is large.
  *board->left += (uint64_t)board->resources->count * board->words *
                  (sizeof *board->busy + CONTEND_WORD_BITS * sizeof *board->user);
  free(board->busy);
  free(board->user);
  board->words = words;
  board->phases = phases;
  board->busy = contend_take_room(board->left, bits, sizeof *board->busy);
  board->user = contend_take_room(board->left, users, sizeof *board->user);
  if (board->busy == NULL || board->user == NULL) return false;
  memset(board->user, 0xff, users * sizeof *board->user);
  uint32_t messages = board->ranks * board->ranks;
  for (uint32_t message = 0; message < messages; message++)
    if (board->phase_of[message] != CONTEND_NONE)
      contend_put(board, message, board->phase_of[message]);
  return true;
}

bool contend_make_board(contend_board* made, const contend_resources* resources, uint32_t phases,
                        uint64_t* left) {
  uint64_t messages = (uint64_t)resources->ranks * resources->ranks, most = resources->most_used;
  *made = (contend_board){.resources = resources, .ranks = resources->ranks, .left = left};
  made->phase_of = contend_take_room(left, messages, sizeof *made->phase_of);
  made->placed = contend_take_room(left, most, sizeof *made->placed);
  made->used = contend_take_room(left, most, sizeof *made->used);
  made->hindering = contend_take_room(left, most, sizeof *made->hindering);
  // One for each thing that is used, and the opposite message.
  made->others = contend_take_room(left, most + 1, sizeof *made->others);
  if (!made->phase_of || !made->placed || !made->used || !made->hindering || !made->others)
    return false;
  memset(made->phase_of, 0xff, messages * sizeof *made->phase_of);
  return make_room(made, phases);
}

void contend_free_board(contend_board* board) {
  free(board->busy);
  free(board->user);
  free(board->phase_of);
  free(board->placed);
  free(board->used);
  free(board->hindering);
  free(board->others);
}

bool contend_add_phases(contend_board* board, uint32_t more) {
  if (board->phases + more > board->words * CONTEND_WORD_BITS)
    return make_room(board, board->phases + more);
  board->phases += more;
  return true;
}

static uint32_t* user_of(contend_board* board, uint32_t resource, uint32_t phase) {
  return &board->user[(size_t)resource * board->words * CONTEND_WORD_BITS + phase];
}

static uint64_t* busy_word(contend_board* board, uint32_t resource, uint32_t phase) {
  return &board->busy[(size_t)resource * board->words + phase / CONTEND_WORD_BITS];
}

void contend_put(contend_board* board, uint32_t message, uint32_t phase) {
  board->phase_of[message] = phase;
  uint32_t count = contend_find_used(board->resources, message, board->placed);
  for (uint32_t index = 0; index < count; index++) {
    *busy_word(board, board->placed[index], phase) |= contend_phase_bit(phase);
    *user_of(board, board->placed[index], phase) = message;
  }
}

void contend_take(contend_board* board, uint32_t message) {
  uint32_t phase = board->phase_of[message];
  board->phase_of[message] = CONTEND_NONE;
  uint32_t count = contend_find_used(board->resources, message, board->placed);
  for (uint32_t index = 0; index < count; index++) {
    *busy_word(board, board->placed[index], phase) &= ~contend_phase_bit(phase);
    *user_of(board, board->placed[index], phase) = CONTEND_NONE;
  }
}

uint32_t contend_free_phase(contend_board* board, uint32_t message, uint32_t first) {
  uint32_t count = contend_find_used(board->resources, message, board->used);
  // The first word is looked at twice: its lower bits at the end.
  for (uint32_t step = 0; step <= board->words; step++) {
    uint32_t word = (first / CONTEND_WORD_BITS + step) % board->words;
    uint64_t free = ~contend_find_hindered(board, message, board->used, count, word).once &
                    contend_existing(board, word);
    if (step == 0) free &= UINT64_MAX << first % CONTEND_WORD_BITS;
    if (free != 0) return word * CONTEND_WORD_BITS + contend_lowest_bit(free);
  }
  return CONTEND_NONE;
}

static uint32_t add_other(uint32_t* others, uint32_t count, uint32_t other) {
  if (other == CONTEND_NONE) return count;
  for (uint32_t index = 0; index < count; index++)
    if (others[index] == other) return count;
  others[count] = other;
  return count + 1;
}

uint32_t contend_in_the_way(contend_board* board, uint32_t message, uint32_t phase) {
  uint32_t count = contend_find_used(board->resources, message, board->used), others = 0;
  for (uint32_t index = 0; index < count; index++)
    others = add_other(board->others, others, *user_of(board, board->used[index], phase));
  uint32_t opposite = contend_opposite(board, message);
  if (board->phase_of[opposite] == phase) others = add_other(board->others, others, opposite);
  return others;
}
