// What is known of a communicator, with its plans: kept as an attribute of it, so that it ends when
// the communicator does, and that a new one at the same address is not mistaken for it.
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuned.h"

static int keyval = MPI_KEYVAL_INVALID;
static bool ended;

// Duplicates at a time, of communicators that are made ready when they are made, and of those whose
// first call comes: MPICH has 2,048 communicators, which are the program's.
#define MOST_PREPARED 64
#define MOST_DUPLICATES 128
static int duplicates;

void contend_release_members(contend_members* members) {
  if (__atomic_sub_fetch(&members->references, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (int index = 0; index < CONTEND_SCHEDULES; index++) free(members->plans[index]);
  // Once MPI ends it frees what is left by itself.
  if (members->comm != MPI_COMM_NULL && !ended) {
    REAL(Comm_free)(&members->comm);
    __atomic_sub_fetch(&duplicates, 1, __ATOMIC_ACQ_REL);
  }
  free(members->host_of);
  free(members->requests);
  free(members);
}

static int forget(MPI_Comm comm, int key, void* members, void* unused) {
  (void)comm, (void)key, (void)unused;
  __atomic_store_n(&((contend_members*)members)->freed, true, __ATOMIC_RELEASE);
  contend_release_members(members);
  return MPI_SUCCESS;
}

bool contend_start_members(void) {
  // Duplicates that the program makes begin without the attribute.
  return contend_library.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) ==
         MPI_SUCCESS;
}

contend_members* contend_known_members(MPI_Comm comm) {
  contend_members* members = NULL;
  int there = 0;
  if (contend_library.Comm_get_attr(comm, keyval, &members, &there) || !there) return NULL;
  return members;
}

static uint64_t own_host(void) {
  char name[HOST_NAME_MAX + 1] = "";
  uint64_t hash = 0xcbf29ce484222325u;
  gethostname(name, sizeof name - 1);
  for (const char* at = name; *at; at++) hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
  return hash;
}

typedef struct {
  uint64_t host;
  int rank;
} seat;

static int by_host(const void* first, const void* second) {
  const seat *a = first, *b = second;
  if (a->host != b->host) return a->host < b->host ? -1 : 1;
  return a->rank - b->rank;
}

/// Numbers the hosts by their lowest rank, and counts the ranks on each.
static void number_hosts(contend_members* members, seat* seats) {
  int size = members->size, *host_of = members->host_of;
  qsort(seats, (size_t)size, sizeof *seats, by_host);
  int first = 0;
  for (int index = 0; index < size; index++) {
    if (seats[index].host != seats[first].host) first = index;
    if (index - first + 1 > members->ranks_per_host) members->ranks_per_host = index - first + 1;
    // The lowest rank stands for its host until all are known.
    host_of[seats[index].rank] = seats[first].rank;
  }
  for (int rank = 0; rank < size; rank++)
    host_of[rank] = host_of[rank] == rank ? members->hosts++ : host_of[host_of[rank]];
}

/// Learns which rank is on which host; false, on all ranks, where they have different rules, or
/// where one has as many duplicates as may be.
static bool learn_hosts(contend_members* members, MPI_Comm comm, int most) {
  bool room = __atomic_load_n(&duplicates, __ATOMIC_ACQUIRE) < most;
  uint64_t own[2] = {own_host(), room ? contend_rules.hash : ~contend_rules.hash};
  size_t size = (size_t)members->size;
  uint64_t* all = contend_room(size * sizeof own);
  seat* seats = contend_room(size * sizeof *seats);
  members->host_of = contend_room(size * sizeof *members->host_of);
  members->requests = contend_room(2 * size * sizeof *members->requests);
  bool good = !REAL(Allgather)(own, 2, MPI_UNSIGNED_LONG, all, 2, MPI_UNSIGNED_LONG, comm);
  for (int rank = 0; good && rank < members->size; rank++) {
    if (all[2 * rank + 1] != contend_rules.hash) good = false;
    seats[rank] = (seat){all[2 * rank], rank};
    members->hosts_hash = (members->hosts_hash ^ all[2 * rank]) * 0x100000001b3u;
  }
  if (good) number_hosts(members, seats);
  free(all);
  free(seats);
  return good;
}

/// Makes a communicator of the same ranks. MPI_Comm_dup would call what the program has given to
/// copy its attributes; if there are no more communicators, that is no matter of its error handler.
static bool duplicate(MPI_Comm comm, contend_members* members) {
  MPI_Errhandler handler;
  if (contend_library.Comm_get_errhandler(comm, &handler)) return false;
  contend_library.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int result = REAL(Comm_split)(comm, 0, members->rank, &members->comm);
  contend_library.Comm_set_errhandler(comm, handler);
  contend_library.Errhandler_free(&handler);
  if (result) {
    members->comm = MPI_COMM_NULL;
    return false;
  }
  __atomic_add_fetch(&duplicates, 1, __ATOMIC_ACQ_REL);
  contend_library.Comm_set_errhandler(members->comm, MPI_ERRORS_RETURN);
  return true;
}

/// What is known of a communicator that has been made ready; one that could not be passes.
static contend_members* make_ready(MPI_Comm comm, int most, bool if_passing) {
  contend_members* members = contend_known_members(comm);
  if (members) return members;
  contend_release();
  members = contend_room(sizeof *members);
  *members = (contend_members){.references = 1, .comm = MPI_COMM_NULL};
  int between = 0;
  contend_library.Comm_test_inter(comm, &between);
  contend_library.Comm_size(comm, &members->size);
  contend_library.Comm_rank(comm, &members->rank);
  // A rank by itself sends nothing.
  members->passes = between || members->size < 2;
  if (!members->passes)
    members->passes = !learn_hosts(members, comm, most) || !duplicate(comm, members);
  if ((members->passes && !if_passing) || contend_library.Comm_set_attr(comm, keyval, members)) {
    contend_release_members(members);
    return NULL;
  }
  return members;
}

contend_members* contend_make_ready(MPI_Comm comm) {
  return make_ready(comm, MOST_DUPLICATES, true);
}

void contend_prepare(MPI_Comm comm) {
  int size = 0, between = 0;
  if (!contend_rules.nonblocking || comm == MPI_COMM_NULL) return;
  contend_library.Comm_size(comm, &size);
  if (!contend_within(contend_rules.ranks, (uint64_t)size)) return;
  contend_library.Comm_test_inter(comm, &between);
  // For one that cannot be now its first call asks again.
  if (!between) make_ready(comm, MOST_PREPARED, false);
}

void contend_end_members(void) {
  if (contend_known_members(MPI_COMM_WORLD))
    contend_library.Comm_delete_attr(MPI_COMM_WORLD, keyval);
  ended = true;
}

static contend_party party_of(const contend_members* members) {
  contend_party party = {.rank = members->rank,
                         .ranks = members->size,
                         .width = CONTEND_WIDTH,
                         .hosts = members->hosts,
                         .host_of = members->host_of,
                         .phases = -1};
  contend_add_phases_by_routes(members, &party);
  return party;
}

const contend_plan* contend_plan_of(contend_members* members, enum contend_schedule schedule,
                                    bool together) {
  contend_plan** plan = &members->plans[schedule];
  if (*plan) return *plan;
  if (together && strcmp(contend_schedules[schedule].option, CONTEND_BY_PHASES) == 0)
    contend_agree_on_phases(members);
  contend_party party = party_of(members);
  int phases = contend_count_phases(schedule, &party);
  if (phases < 0) return NULL;
  // The numbers lie behind the plan, which is freed with them.
  *plan = contend_room(sizeof **plan + contend_plan_numbers(&party, phases) * sizeof *(*plan)->to);
  **plan = contend_make_plan(schedule, &party, (int*)(*plan + 1));
  return *plan;
}
