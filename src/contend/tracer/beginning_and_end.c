// The record's beginning with MPI_Init and its end, whichever way the program ends.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "handles.h"
#include "signing_in.h"

static contend_clock clocks;
static bool compares_clocks;

/// Ends the record of a process that has not reached MPI_Finalize.
static void exited(int status, void* unused) {
  (void)unused;
  if (contend.header == NULL) return;
  contend_header* header = contend.header;
  if (header->state == CONTEND_RUNNING) contend_close_record(CONTEND_EXITED, status);
  contend_lead_all(false);
}

#ifndef __GLIBC__
static void exited_somehow(void) { exited(0, NULL); }
#endif

/// The record is the parent's: a child leaves it alone.
static void forked(void) {
  contend.header = NULL;
  contend_lead_all(false);
  contend_this_thread.inside = false;
}

static void begin(uint64_t begun) {
  const char* folder = getenv("CONTEND_PROFILE");
  int rank = 0, size = 1, level = MPI_THREAD_SINGLE;
  if (folder == NULL || *folder == '\0') return;
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_size"))(MPI_COMM_WORLD, &size);
  ((int (*)(int*))contend_symbol("PMPI_Query_thread"))(&level);
  clocks.begun_ticks = begun;
  // Ranks that are recorded need the others to compare clocks with, even those without a record.
  const contend_guest guest = {
      .folder = folder,
      .library = "the recorder",
      .agreement = "version of it",
      .hash = CONTEND_RECORD_VERSION,
      .consequence =
          "the others, such as rank %d on %s, are recorded, and clocks are not compared"};
  compares_clocks = contend_sign_in(&guest, rank, size);
  bool opened = contend_open_record(folder, rank, size, level);
  if (compares_clocks) {
    contend_compare_clocks(0, &clocks);
    contend_lead(contend_routine_Finalize, true);
  }
  if (!opened) return;
  contend_learn_own_code();
  contend_note_modules();
  contend_start_communicators();
  contend_start_requests();
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  clocks.start_unix_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  clocks.start_ns = clocks.end_ns = contend_monotonic();
  clocks.start_ticks = clocks.end_ticks = contend_ticks();
  contend.header->clock = clocks;
  contend_meet_thread();
  // MPI_Init took some time, from which comes about how many ticks make a tenth of a second.
  contend.reading_gap = contend_ticks_per_second() / 10;
  contend.next_reading = clocks.start_ticks + contend.reading_gap;
#ifdef __GLIBC__
  on_exit(exited, NULL);
#else
  atexit(exited_somehow);
#endif
  pthread_atfork(NULL, NULL, forked);
  contend_lead_all(true);
}

/// Notes the call that began it all, with the time that it took alone.
static void note_beginning(contend_call* call, void* site, void* frame) {
  if (contend.header == NULL) return;
  call->site = contend_site_behind((uintptr_t)site, (uintptr_t)frame);
  contend_note(call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
}

#define BEGINS(name, parameters, arguments)                                            \
  int contend_##name parameters {                                                      \
    contend_choose_counter();                                                          \
    contend_call call = {.routine = contend_routine_##name, .start = contend_ticks()}; \
    int result = REAL(name) arguments;                                                 \
    call.end = contend_ticks();                                                        \
    if (result == MPI_SUCCESS) {                                                       \
      begin(call.start);                                                               \
      note_beginning(&call, __builtin_return_address(0), __builtin_frame_address(0));  \
    }                                                                                  \
    return result;                                                                     \
  }

BEGINS(Init, (int* count, char*** words), (count, words))
BEGINS(Init_thread, (int* count, char*** words, int wanted, int* level),
       (count, words, wanted, level))

/// From here on this rank is in MPI_Finalize, and waits for the others.
static void enter_finalize(const contend_call* call) {
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->start = contend_ticks();
  under_way->site = call->site;
  under_way->count = 1;
  under_way->awaited[0] =
      (contend_awaited){.kind = CONTEND_AWAITS_FINALIZE, .peer = CONTEND_NO_PEER, .tag = -1};
  under_way->routine = contend_routine_Finalize;
}

int contend_Finalize(void) {
  contend_call call = {.routine = contend_routine_Finalize};
  if (contend.header) {
    if (!contend_this_thread.known) contend_meet_thread();
    call.site = contend_site_behind((uintptr_t)__builtin_return_address(0),
                                    (uintptr_t)__builtin_frame_address(0));
    enter_finalize(&call);
  }
  if (compares_clocks) {
    contend_clock* clock = contend.header ? &contend.header->clock : &clocks;
    contend_compare_clocks(1, clock);
    compares_clocks = false;
  }
  contend_header* header = contend.header;
  if (header == NULL) return REAL(Finalize)();
  header->state = CONTEND_FINISHED;
  // What the library calls of itself from here on is not the program's.
  contend_lead_all(false);
  call.start = contend_ticks();
  int result = REAL(Finalize)();
  call.end = contend_ticks();
  contend_this_thread.under_way->left = call.end;
  contend_this_thread.under_way->routine = CONTEND_NO_CALL;
  contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_close_record(CONTEND_FINISHED, 0);
  return result;
}

int contend_Abort(MPI_Comm communicator, int code) {
  contend_lead_all(false);
  contend_close_record(CONTEND_ABORTED, code);
  return REAL(Abort)(communicator, code);
}

void contend_leave_word(const char* name, const char* of) {
  const char* folder = getenv("CONTEND_PROFILE");
  char path[4096];
  if (folder == NULL || *folder == '\0') return;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  dprintf(file, "%s\n", of);
  close(file);
}

// Its ranks run unrecorded.
void contend_other_library(const char* library) {
  contend_leave_word(CONTEND_OTHER_LIBRARY, library);
}
