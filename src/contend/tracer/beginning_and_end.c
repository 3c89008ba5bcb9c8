// The record's beginning, with MPI_Init or the first session, and its end, whichever way the
// program ends.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handles.h"
#include "signing_in.h"

static contend_clock clocks;
static bool compares_clocks;  // again, before MPI_Finalize
static bool met;              // MPI_Init, or a session, that is the first
static bool recording;
static bool signed_in;
static bool world_lives;  // MPI_COMM_WORLD may be used

/// Ends the record of a process that has not reached MPI_Finalize.
static void exited(int status, void* unused) {
  (void)unused;
  if (contend.header == NULL) return;
  contend_header* header = contend.header;
  if (header->state == CONTEND_RUNNING)
    contend_close_record(CONTEND_EXITED, status);
  else
    contend_note_modules();  // All sessions had ended, but others could have come.
  contend_lead_all(false);
}

/// Notes that the program leaves at once, as by std::_Exit or Python's os._exit, which call nothing
/// of ours. That may be in the handler of a signal, so nothing is locked. A child of vfork sees its
/// parent's record, and within a call it is the library that gives up.
static _Noreturn void leave_at_once(int status) {
  contend_header* header = contend.header;
  bool own = contend_this_thread.under_way != NULL && !contend_this_thread.inside;
  if (header != NULL && own && header->pid == getpid() && header->state == CONTEND_RUNNING) {
    contend_read_clocks(contend_ticks());
    header->exit_code = status;
    header->state = CONTEND_EXITED;
  }
  for (;;) syscall(SYS_exit_group, status);
}
__attribute__((visibility("default"))) void _exit(int status) { leave_at_once(status); }
__attribute__((visibility("default"))) void _Exit(int status) { leave_at_once(status); }

static void exited_somehow(void) { exited(0, NULL); }

/// The record is the parent's: a child leaves it alone.
static void forked(void) {
  contend.header = NULL;
  recording = false;
  contend_lead_all(false);
  contend_this_thread.inside = false;
}

static const char* folder_of_records(void) {
  const char* folder = getenv("CONTEND_PROFILE");
  return folder && *folder ? folder : NULL;
}

static void get_ready(int rank, int size) {
  static contend_guest guest;
  // Ranks that are recorded need the others to compare clocks with, even those without a record.
  guest = (contend_guest){
      .folder = strdup(folder_of_records()),
      .library = "the recorder",
      .agreement = "version of it",
      .hash = CONTEND_RECORD_VERSION,
      .consequence =
          "the others, such as rank %d on %s, are recorded, and clocks are not compared"};
  contend_get_ready_to_sign_in(&guest, rank, size);
}

/// Begins to record at an instant of the counter that was `start_ns` on the host's clock.
static void record_from(uint64_t start_ticks, int64_t start_ns) {
  contend_learn_own_code();
  contend_note_modules();
  contend_start_communicators();
  contend_start_datatypes();
  contend_start_operations();
  contend_watch_for_deaths();
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  clocks.start_unix_ns =
      now.tv_sec * INT64_C(1000000000) + now.tv_nsec - (contend_monotonic() - start_ns);
  clocks.start_ns = clocks.end_ns = start_ns;
  clocks.start_ticks = clocks.end_ticks = start_ticks;
  contend.header->clock = clocks;
  contend_meet_thread();
  // What began it all took some time, from which comes about how many ticks make a tenth of a
  // second.
  contend.reading_gap = contend_ticks_per_second() / 10;
  contend.next_reading = start_ticks + contend.reading_gap;
#ifdef __GLIBC__
  on_exit(exited, NULL);
#else
  atexit(exited_somehow);
#endif
  at_quick_exit(exited_somehow);
  pthread_atfork(NULL, NULL, forked);
  recording = true;
  contend_lead_all(true);
}

/// All ranks have left MPI_Init, some of them perhaps after sessions.
static void begin_with_world(uint64_t begun) {
  int rank = 0, size = 1, level = MPI_THREAD_SINGLE;
  world_lives = true;
  if (folder_of_records() == NULL) return;
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
  ((int (*)(MPI_Comm, int*))contend_symbol("PMPI_Comm_size"))(MPI_COMM_WORLD, &size);
  ((int (*)(int*))contend_symbol("PMPI_Query_thread"))(&level);
  bool first = !__atomic_exchange_n(&met, true, __ATOMIC_ACQ_REL);
  if (first) {
    clocks.begun_ticks = begun;
    get_ready(rank, size);
  }
  if (!__atomic_exchange_n(&signed_in, true, __ATOMIC_ACQ_REL))
    compares_clocks = contend_sign_in(MPI_COMM_WORLD, NULL);
  bool opened = first && contend_open_record(folder_of_records(), rank, size, level);
  if (compares_clocks) {
    contend_compare_clocks(0, false, MPI_COMM_WORLD, recording ? &contend.header->clock : &clocks);
    contend_lead(contend_routine_Finalize, true);
  }
  if (opened) record_from(contend_ticks(), contend_monotonic());
  if (recording) contend_write_launch(contend.header->launch, sizeof contend.header->launch);
}

/// The end of MPI waits for all ranks.
static void await_all_finalized(void) {
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->count = 1;
  under_way->awaited[0] =
      (contend_awaited){.kind = CONTEND_AWAITS_FINALIZE, .peer = CONTEND_NO_PEER, .tag = -1};
}

#if CONTEND_MPI_4
// Sessions. They are each rank's own affair, so that ranks cannot sign in when one begins, but when
// the first communicator of all ranks is made.

enum { MOST_SESSIONS = 64 };
static MPI_Session sessions[MOST_SESSIONS];  // some of those that are open
static unsigned kept_sessions, open_sessions;
static atomic_flag sessions_lock = ATOMIC_FLAG_INIT;  // also before anything is recorded

static void lock_sessions(void) {
  while (atomic_flag_test_and_set_explicit(&sessions_lock, memory_order_acquire)) sched_yield();
}

static void unlock_sessions(void) {
  atomic_flag_clear_explicit(&sessions_lock, memory_order_release);
}

static void begin_with_session(uint64_t begun, int64_t begun_ns, MPI_Session session) {
  lock_sessions();
  open_sessions++;
  if (kept_sessions < MOST_SESSIONS) sessions[kept_sessions++] = session;
  unlock_sessions();
  if (recording) {
    contend.locked = true;
    contend.header->state = CONTEND_RUNNING;
  }
  if (folder_of_records() == NULL || __atomic_exchange_n(&met, true, __ATOMIC_ACQ_REL)) return;
  int rank = 0, size = 1, level = MPI_THREAD_SINGLE;
  MPI_Group all = contend_world_group();
  ((int (*)(MPI_Group, int*))contend_symbol("PMPI_Group_rank"))(all, &rank);
  ((int (*)(MPI_Group, int*))contend_symbol("PMPI_Group_size"))(all, &size);
  ((int (*)(MPI_Group*))contend_symbol("PMPI_Group_free"))(&all);
  ((int (*)(int*))contend_symbol("PMPI_Query_thread"))(&level);
  clocks.begun_ticks = begun;
  get_ready(rank, size);
  if (!contend_open_record(folder_of_records(), rank, size, level)) return;
  // Each session has a level of its own, and others may come.
  contend.locked = true;
  record_from(begun, begun_ns);
}

static void forget_session(MPI_Session session) {
  lock_sessions();
  open_sessions--;
  unsigned index = 0;
  while (index < kept_sessions && sessions[index] != session) index++;
  if (index < kept_sessions) sessions[index] = sessions[--kept_sessions];
  unlock_sessions();
}

void contend_met_all_ranks(MPI_Comm all, const char* name) {
  contend_header* header = contend.header;
  if (world_lives || __atomic_exchange_n(&signed_in, true, __ATOMIC_ACQ_REL)) return;
  if (contend_sign_in(all, name)) contend_compare_clocks(0, true, all, &header->clock);
  contend_write_launch(header->launch, sizeof header->launch);
}
#else
static const unsigned open_sessions;
#endif

MPI_Group contend_world_group(void) {
  MPI_Group all = MPI_GROUP_NULL;
  if (world_lives)
    ((int (*)(MPI_Comm, MPI_Group*))contend_symbol("PMPI_Comm_group"))(MPI_COMM_WORLD, &all);
#if CONTEND_MPI_4
  if (world_lives) return all;
  int (*group_of)(MPI_Session, const char*, MPI_Group*) =
      (__typeof__(group_of))contend_symbol("PMPI_Group_from_session_pset");
  // Another thread must not end the session meanwhile.
  lock_sessions();
  if (kept_sessions) group_of(sessions[0], "mpi://WORLD", &all);
  unlock_sessions();
#endif
  return all;
}

/// Notes the call that began it all, with the time that it took alone.
static void note_beginning(contend_call* call, void* site, void* frame) {
  if (!recording) return;
  call->site = contend_site_behind((uintptr_t)site, (uintptr_t)frame);
  contend_lock();
  contend_note(call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_unlock();
}

/// `begin` is done when the call has been; in it `begun` and `begun_ns` are when it was entered.
#define BEGINS(name, parameters, arguments, begin)                                     \
  int contend_##name parameters {                                                      \
    if (recording) {                                                                   \
      CONTEND_CALL_OF(name, arguments);                                                \
      uint64_t begun = call.start;                                                     \
      int64_t begun_ns = 0;                                                            \
      int result = REAL(name) arguments;                                               \
      contend_leave(&call);                                                            \
      if (result == MPI_SUCCESS)                                                       \
        contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST); \
      contend_unlock();                                                                \
      if (result == MPI_SUCCESS) begin;                                                \
      contend_this_thread.inside = false;                                              \
      (void)begun, (void)begun_ns;                                                     \
      return result;                                                                   \
    }                                                                                  \
    contend_choose_counter();                                                          \
    uint64_t begun = contend_ticks();                                                  \
    int64_t begun_ns = contend_monotonic();                                            \
    contend_call call = {.routine = contend_routine_##name, .start = begun};           \
    int result = REAL(name) arguments;                                                 \
    call.end = contend_ticks();                                                        \
    if (result == MPI_SUCCESS) {                                                       \
      begin;                                                                           \
      note_beginning(&call, __builtin_return_address(0), __builtin_frame_address(0));  \
    }                                                                                  \
    (void)begun_ns;                                                                    \
    return result;                                                                     \
  }

BEGINS(Init, (int* count, char*** words), (count, words), begin_with_world(begun))
BEGINS(Init_thread, (int* count, char*** words, int wanted, int* level),
       (count, words, wanted, level), begin_with_world(begun))
#if CONTEND_MPI_4
BEGINS(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session* session),
       (info, handler, session), begin_with_session(begun, begun_ns, *session))

int contend_Session_finalize(MPI_Session* session) {
  CONTEND_CALL_WITH(session, Session_finalize, (session));
  forget_session(*session);
  if (open_sessions == 0 && !world_lives) await_all_finalized();
  int result = REAL(Session_finalize)(session);
  contend_leave(&call);
  if (result == MPI_SUCCESS)
    contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  // Should no other session come, this was the end.
  if (open_sessions == 0 && !world_lives) {
    contend_read_clocks(call.end);
    contend.header->state = CONTEND_FINISHED;
  }
  contend_done();
  return result;
}
#endif

/// From here on this rank is in MPI_Finalize, and waits for the others.
static void enter_finalize(const contend_call* call) {
  contend_under_way* under_way = contend_this_thread.under_way;
  under_way->start = contend_ticks();
  under_way->site = call->site;
  await_all_finalized();
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
    contend_compare_clocks(1, true, MPI_COMM_WORLD, clock);
    compares_clocks = false;
  }
  world_lives = false;
  contend_header* header = contend.header;
  if (header == NULL) return REAL(Finalize)();
  // Sessions may go on.
  bool last = open_sessions == 0;
  contend_this_thread.inside = true;
  contend_this_thread.own = 0;
  contend_this_thread.frame = (uintptr_t)__builtin_frame_address(0);
  if (last) {
    header->state = CONTEND_FINISHED;
    // What the library calls of itself from here on is not the program's.
    contend_lead_all(false);
  }
  call.start = contend_ticks();
  int result = REAL(Finalize)();
  contend_leave(&call);
  contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST);
  contend_done();
  if (last) contend_close_record(CONTEND_FINISHED, 0);
  return result;
}

int contend_Abort(MPI_Comm communicator, int code) {
  contend_lead_all(false);
  contend_close_record(CONTEND_ABORTED, code);
  return REAL(Abort)(communicator, code);
}

bool contend_leave_word(const char* name, const char* of) {
  const char* folder = folder_of_records();
  char path[4096];
  errno = ENAMETOOLONG;
  if (folder == NULL) return false;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  dprintf(file, "%s\n", of);
  close(file);
  return true;
}

// Its ranks run unrecorded.
void contend_other_library(const char* library) {
  contend_leave_word(CONTEND_OTHER_LIBRARY, library);
}
