// Clocks: the counter that times calls, and how far this host's clock is from the others'.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "tracer.h"

enum { EXCHANGES = 16 };
static const int64_t BUDGET_NS = 50 * INT64_C(1000000);       // of one pair, from its first answer
static const int64_t PATIENCE_NS = 60 * INT64_C(1000000000);  // with ranks that do not answer

bool contend_counter_runs;

static uint64_t chosen_ticks;  // when the counter was chosen
static int64_t chosen_ns;

#if defined(__x86_64__)
/// Whether the kernel still trusts the counter to be the same on all processors.
static bool kernel_trusts_counter(void) {
  char line[256] = "";
  FILE* file = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
  if (file == NULL) return false;
  char* read = fgets(line, sizeof line, file);
  fclose(file);
  for (char *rest = line, *word; read && (word = strtok_r(rest, " \n", &rest));)
    if (strcmp(word, "tsc") == 0) return true;
  return false;
}
#endif

void contend_choose_counter(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8);
  contend_counter_runs = invariant && kernel_trusts_counter();
#endif
  chosen_ns = contend_monotonic();
  chosen_ticks = contend_ticks();
}

uint64_t contend_ticks_per_second(void) {
  int64_t passed = contend_monotonic() - chosen_ns;
  uint64_t ticks = contend_ticks() - chosen_ticks;
  return passed > 0 ? (uint64_t)((double)ticks / (double)passed * 1e9) : 1;
}

/// Waits for a request of the recorder's own; false when it takes too long, and then it is gone.
static bool finish(MPI_Request* request, int64_t until) {
  int done = 0;
  while (REAL(Test)(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    if (contend_monotonic() > until) {
      REAL(Cancel)(request);
      REAL(Request_free)(request);
      return false;
    }
    sched_yield();
  }
  return done;
}

/// Sends or receives a few numbers, if the other rank is there.
static bool pass(bool send, int64_t* numbers, int peer, MPI_Comm own, int64_t until) {
  int bytes = 2 * (int)sizeof *numbers;
  MPI_Request request;
  int result = send ? REAL(Isend)(numbers, bytes, MPI_BYTE, peer, 0, own, &request)
                    : REAL(Irecv)(numbers, bytes, MPI_BYTE, peer, 0, own, &request);
  return result == MPI_SUCCESS && finish(&request, until);
}

/// Tells a child the time until it has asked often enough.
static void answer(int child, MPI_Comm own, int64_t until) {
  int64_t question[2], reply[2] = {0, 0};
  do {
    if (!pass(false, question, child, own, until)) return;
    reply[0] = contend_monotonic();
    if (!pass(true, reply, child, own, until)) return;
  } while (question[0]);
}

/// Asks the parent for the time; the quickest answer counts.
static bool ask(int parent, MPI_Comm own, int64_t until, contend_offset* offset) {
  int64_t question[2] = {0, 0}, reply[2], first = 0;
  for (int exchange = 0; exchange < EXCHANGES; exchange++) {
    int64_t sent = contend_monotonic();
    if (exchange == 1) first = sent;
    bool more = exchange + 1 < EXCHANGES && (exchange == 0 || sent - first < BUDGET_NS);
    question[0] = more;
    if (!pass(true, question, parent, own, until)) return false;
    if (!pass(false, reply, parent, own, until)) return false;
    int64_t received = contend_monotonic();
    int64_t half = (received - sent + 1) / 2;
    if (exchange == 0 || half < offset->uncertainty_ns) {
      offset->at_ns = sent + half;
      offset->offset_ns = reply[0] - offset->at_ns;
      offset->uncertainty_ns = half;
    }
    if (!more) break;
  }
  return true;
}

/// A communicator of the recorder's own. Not all ranks may have the recorder, so none waits for
/// ever.
static MPI_Comm own_communicator(MPI_Comm all, int64_t until) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  if (REAL(Comm_idup)(all, &made, &request) != MPI_SUCCESS) return MPI_COMM_NULL;
  int done = 0;
  while (REAL(Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    // The request stays under way: there is no way to cancel it.
    if (contend_monotonic() > until) return MPI_COMM_NULL;
    sched_yield();
  }
  int (*returning)(MPI_Comm, MPI_Errhandler) =
      (int (*)(MPI_Comm, MPI_Errhandler))contend_symbol("PMPI_Comm_set_errhandler");
  returning(made, MPI_ERRORS_RETURN);
  return made;
}

void contend_compare_clocks(int when, bool last, MPI_Comm all, contend_clock* clock) {
  static MPI_Comm own;
  int64_t until = contend_monotonic() + PATIENCE_NS;
  int rank = 0, size = 1;
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_rank"))(all, &rank);
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_size"))(all, &size);
  clock->parent = rank == 0 ? -1 : (rank & (rank - 1));
  if (size == 1) {
    clock->known = (uint32_t)when + 1;
    return;
  }
  if (when == 0) own = own_communicator(all, until);
  if (own == MPI_COMM_NULL) return;
  // The tree's levels, one after the other: in each, a rank is a parent, or a child and then done.
  bool known = rank == 0;
  for (int64_t distance = 1; distance < size; distance *= 2) {
    if (rank & distance) {
      known = ask(clock->parent, own, until, &clock->offsets[when]);
      break;
    }
    if (rank + distance < size) answer(rank + (int)distance, own, until);
  }
  if (known && clock->known == (uint32_t)when) clock->known++;
  if (last) REAL(Comm_free)(&own);
}
