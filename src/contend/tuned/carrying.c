// A blocking all-to-all: one phase after the other. After an error it goes on, as other ranks wait
// for the messages, and those that are left would meet the next call.
#include <stdlib.h>

#include "tuned.h"

static int run_phases(const contend_blocks* blocks, contend_members* members,
                      const contend_plan* plan, bool barriers) {
  MPI_Request* requests = members->requests;
  int to = 0, from = 0, result = MPI_SUCCESS;
  for (int phase = 0; phase < plan->phases; phase++) {
    int count = 0;
    if (barriers && phase) contend_note(&result, REAL(Barrier)(members->comm));
    for (; from < plan->from_end[phase]; from++)
      contend_note(&result, contend_begin_message(blocks, members, false, plan->from[from],
                                                  CONTEND_TAG, &requests[count++]));
    for (; to < plan->to_end[phase]; to++)
      contend_note(&result, contend_begin_message(blocks, members, true, plan->to[to], CONTEND_TAG,
                                                  &requests[count++]));
    if (phase == plan->own) contend_note(&result, contend_copy_own(blocks, members, CONTEND_TAG));
    // One by one: MPI_Waitall does not say which error it was.
    for (int index = 0; index < count; index++)
      contend_note(&result, REAL(Wait)(&requests[index], MPI_STATUS_IGNORE));
  }
  return result;
}

/// Begins the next message with data; none when there are no more.
static int next(const contend_blocks* blocks, const contend_members* members,
                const contend_plan* plan, bool sends, int* at, MPI_Request* request) {
  int result = MPI_SUCCESS;
  *request = MPI_REQUEST_NULL;
  while (*request == MPI_REQUEST_NULL && *at < members->size - 1) {
    int peer = sends ? plan->to[*at] : plan->from[*at];
    ++*at;
    contend_note(&result,
                 contend_begin_message(blocks, members, sends, peer, CONTEND_TAG, request));
  }
  return result;
}

/// Keeps so many messages each way under way; as one ends, the next begins.
static int run_window(const contend_blocks* blocks, contend_members* members,
                      const contend_plan* plan) {
  MPI_Request* requests = members->requests;
  int width = plan->in_flight, to = 0, from = 0, result = MPI_SUCCESS;
  for (int slot = 0; slot < 2 * width; slot++)
    contend_note(&result, next(blocks, members, plan, slot >= width, slot < width ? &from : &to,
                               &requests[slot]));
  contend_note(&result, contend_copy_own(blocks, members, CONTEND_TAG));
  for (;;) {
    int ended = MPI_UNDEFINED;
    contend_note(&result, REAL(Waitany)(2 * width, requests, &ended, MPI_STATUS_IGNORE));
    if (ended == MPI_UNDEFINED) return result;
    contend_note(&result, next(blocks, members, plan, ended >= width, ended < width ? &from : &to,
                               &requests[ended]));
  }
}

int contend_carry(contend_blocks* blocks, contend_members* members, const contend_plan* plan,
                  bool barriers) {
  contend_release();
  contend_silence silence = contend_hush();
  int result = blocks->in_place ? contend_pack(blocks, members) : MPI_SUCCESS;
  // What cannot be kept must not be sent.
  if (!result) {
    if (plan->own < 0) result = contend_copy_own(blocks, members, CONTEND_TAG);
    contend_note(&result, plan->in_flight ? run_window(blocks, members, plan)
                                          : run_phases(blocks, members, plan, barriers));
  }
  contend_free_packed(blocks);
  contend_speak(silence);
  return result;
}
