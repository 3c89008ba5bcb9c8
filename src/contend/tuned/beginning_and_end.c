// The drop-in library's beginning with MPI_Init, and what it says at the end when it is asked:
// CONTEND_TUNED names the folder of the rules, CONTEND_TUNED_REPORT=1 asks for a line on what was
// carried.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signing_in.h"
#include "tuned.h"

static bool begun;  // by MPI_Init

struct contend_library contend_library;
bool contend_counting;
_Atomic bool contend_many_threads;
static uint64_t counts[CONTEND_SCHEDULES + 1];

// What the program calls, and what makes communicators.
static const enum contend_routine carried[] = {
#define FORMS(name, lower) contend_routine_##name, contend_routine_I##lower,
    FORMS(Alltoall, alltoall) FORMS(Alltoallv, alltoallv) FORMS(Alltoallw, alltoallw)
#if CONTEND_MPI_4
        contend_routine_Alltoall_init,
    contend_routine_Alltoallv_init,
    contend_routine_Alltoallw_init,
#endif
#if CONTEND_BIG_COUNTS
    contend_routine_Alltoall_c,
    contend_routine_Ialltoall_c,
    contend_routine_Alltoall_init_c,
    contend_routine_Alltoallv_c,
    contend_routine_Ialltoallv_c,
    contend_routine_Alltoallv_init_c,
    contend_routine_Alltoallw_c,
    contend_routine_Ialltoallw_c,
    contend_routine_Alltoallw_init_c,
#endif
};

void contend_count_slowly(enum contend_schedule schedule) {
  __atomic_add_fetch(&counts[schedule], 1, __ATOMIC_RELAXED);
}

void* contend_room(size_t bytes) {
  void* room = malloc(bytes ? bytes : 1);
  if (room) return room;
  // The other ranks would wait for ever for one that gave up alone.
  fprintf(stderr, "contend: no memory for %zu bytes\n", bytes);
  abort();
}

int contend_fail(MPI_Comm comm, int error) {
  contend_library.Comm_call_errhandler(comm, error);
  return error;
}

static void find_library(void) {
#define X(name) \
  contend_library.name = (__typeof__(contend_library.name))contend_symbol("PMPI_" #name);
  CONTEND_LIBRARY(X)
#undef X
}

/// Leaves word for who has started the command that this library was there: an empty file.
static void leave_word(void) {
  const char *folder = getenv("CONTEND_TUNED_SIGN_IN"), *run = getenv("CONTEND_TUNED_RUN");
  char path[4096];
  if (folder == NULL || *folder == '\0') folder = getenv("CONTEND_TUNED");
  if (folder == NULL || run == NULL || *run == '\0') return;
  if (snprintf(path, sizeof path, "%s/tuned-%s.met", folder, run) >= (int)sizeof path) return;
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

/// Whether all ranks have this library and the same rules; where they have not, none goes by any.
static bool all_go_by_rules(const char* folder) {
  const char* signs = getenv("CONTEND_TUNED_SIGN_IN");
  int rank = 0, size = 1;
  // A rank that cannot read them signs in as one that has others.
  bool good = contend_read_rules(folder);
  if (!good) contend_rules.hash = 0;
  const contend_guest guest = {.folder = signs && *signs ? signs : folder,
                               .library = "the drop-in all-to-all",
                               .agreement = "rules.toml",
                               .hash = contend_rules.hash,
                               .consequence = "no all-to-all goes by rules"};
  contend_library.Comm_rank(MPI_COMM_WORLD, &rank);
  contend_library.Comm_size(MPI_COMM_WORLD, &size);
  contend_get_ready_to_sign_in(&guest, rank, size);
  bool agree = contend_sign_in(MPI_COMM_WORLD, NULL);
  if (rank == 0 || !agree) leave_word();
  return agree && good;
}

/// Whether any rank was asked for a report, which all make together.
static bool anybody_reports(void) {
  const char* report = getenv("CONTEND_TUNED_REPORT");
  int asked = report && strcmp(report, "1") == 0, any = 0;
  REAL(Allreduce)(&asked, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

static void begin(void) {
  const char* folder = getenv("CONTEND_TUNED");
  int level = MPI_THREAD_SINGLE;
  begun = true;
  if (folder == NULL || *folder == '\0') return;
  find_library();
  if (!all_go_by_rules(folder)) return;
  contend_library.Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) contend_many_threads = true;
  contend_counting = anybody_reports();
  contend_start_members();
  contend_start_operations();
  contend_prepare(MPI_COMM_WORLD);
  contend_lead(contend_routine_Finalize, true);
  for (size_t index = 0; index < sizeof carried / sizeof *carried; index++)
    contend_lead(carried[index], true);
  contend_watch_communicators();
}

int contend_Init(int* count, char*** words) {
  int result = REAL(Init)(count, words);
  if (result == MPI_SUCCESS) begin();
  return result;
}

int contend_Init_thread(int* count, char*** words, int wanted, int* level) {
  int result = REAL(Init_thread)(count, words, wanted, level);
  if (result == MPI_SUCCESS) begin();
  return result;
}

#if CONTEND_MPI_4
/// At the end, as MPI_Init may come after the first session; as far as launchers number ranks, the
/// first says so alone.
static void tell_of_sessions(void) {
  static const char* const numbers[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  const char* folder = getenv("CONTEND_TUNED");
  if (begun || folder == NULL || *folder == '\0') return;
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    const char* number = getenv(numbers[index]);
    if (number && strcmp(number, "0") != 0) return;
  }
  leave_word();
  fputs("contend: the program uses MPI sessions without MPI_Init: nothing is carried\n", stderr);
}

int contend_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  static bool met;
  if (begun)
    contend_release();
  else if (!__atomic_exchange_n(&met, true, __ATOMIC_RELAXED))
    atexit(tell_of_sessions);
  // Whatever the level of MPI_Init is, a session's threads may call MPI beside it.
  contend_many_threads = true;
  return REAL(Session_init)(info, handler, session);
}
#endif

/// The calls of all ranks, by the schedule that carried them, and their communicators.
static void report(void) {
  uint64_t all[CONTEND_SCHEDULES + 1] = {0}, made[3] = {0}, sum = 0;
  int rank = 0;
  contend_library.Comm_rank(MPI_COMM_WORLD, &rank);
  REAL(Reduce)(counts, all, CONTEND_SCHEDULES + 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  REAL(Reduce)(contend_phase_counts, made, 3, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int index = 0; index < CONTEND_SCHEDULES; index++) sum += all[index];
  fprintf(stderr, "contend: %lu calls of all-to-alls carried, %lu passed on", (unsigned long)sum,
          (unsigned long)all[CONTEND_LIBRARYS_OWN]);
  const char* before = ":";
  for (int index = 0; index < CONTEND_SCHEDULES; index++) {
    if (all[index] == 0) continue;
    fprintf(stderr, "%s %s %lu", before, contend_schedule_name((enum contend_schedule)index),
            (unsigned long)all[index]);
    before = ",";
  }
  fputc('\n', stderr);
  if (made[0] + made[1] + made[2])
    fprintf(stderr,
            "contend: phases by routes: found for %lu, kept for %lu, none for %lu "
            "communicators\n",
            (unsigned long)made[0], (unsigned long)made[1], (unsigned long)made[2]);
}

int contend_Finalize(void) {
  contend_end_operations();
  if (contend_counting) report();
  contend_end_members();
  contend_lead_all(false);
  return REAL(Finalize)();
}

void contend_other_library(const char* library) {
  const char* folder = getenv("CONTEND_TUNED");
  if (folder == NULL || *folder == '\0') return;
  leave_word();
  fprintf(stderr,
          "contend: the program loaded %s, and the drop-in all-to-all is for another MPI "
          "library: nothing is carried\n",
          library);
}
