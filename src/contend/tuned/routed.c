// Phases by routes, found while the program runs, as ranks sit anew in every job.
//
// At a communicator's first call that needs them its first rank gathers the names of the hosts,
// reads the routes between them, searches for phases and hands every rank its own part. All ranks
// hear from it what came of that, so that all go the same way. What came of it is kept by the list
// of hosts, in every rank its own part.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "phases_by_routes.h"
#include "routes.h"
#include "tuned.h"

// Of memory that the search may take.
#define MOST_BYTES ((uint64_t)1 << 30)
#define NAME_BYTES (HOST_NAME_MAX + 1)

enum outcome { MADE, UNREADABLE, UNKNOWN, UNREACHABLE, TOO_LONG, TOO_LARGE };
enum { FOUND, KEPT, NONE };
uint64_t contend_phase_counts[3];

/// What a rank keeps for a list of hosts. `made_by` tells one search from another: parts of
/// different ones do not fit together.
typedef struct contend_phase_part {
  uint64_t hosts_hash, made_by;
  int rank, size, phases;  ///< phases -1 where there are none
  int *to, *from;          ///< a rank in every phase, -1 for none
  struct contend_phase_part* next;
} part;

/// What the first rank tells all.
typedef struct {
  uint64_t outcome, phases, made_by;
} news;

static part* parts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static part* kept_part(const contend_members* members) {
  pthread_mutex_lock(&lock);
  part* at = parts;
  while (at && (at->hosts_hash != members->hosts_hash || at->rank != members->rank ||
                at->size != members->size))
    at = at->next;
  pthread_mutex_unlock(&lock);
  return at;
}

static void keep(part* made) {
  pthread_mutex_lock(&lock);
  made->next = parts;
  parts = made;
  pthread_mutex_unlock(&lock);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool has_time(void* end) { return now() < *(const double*)end; }

/// A number for a search that no other rank of a job has.
static uint64_t new_number(void) {
  static uint64_t searches;
  char name[NAME_BYTES] = "";
  gethostname(name, sizeof name - 1);
  uint64_t number = ((uint64_t)getpid() << 24) + __atomic_add_fetch(&searches, 1, __ATOMIC_RELAXED);
  for (const char* at = name; *at; at++) number = (number ^ (uint8_t)*at) * 0x100000001b3u;
  return number ? number : 1;
}

/// The first rank of each host, whose name stands for it.
static void name_hosts(const contend_members* members, const char* names, const char** host_names) {
  for (int rank = members->size - 1; rank >= 0; rank--)
    host_names[members->host_of[rank]] = names + (size_t)rank * NAME_BYTES;
}

/// Searches for phases, on the first rank alone.
static enum outcome search(const contend_members* members, const char* names,
                           contend_phases* phases) {
  static const enum outcome reading[] = {MADE, UNREADABLE, UNKNOWN, UNREACHABLE, TOO_LARGE};
  static const enum outcome searching[] = {MADE, TOO_LONG, TOO_LARGE};
  char path[sizeof contend_rules.folder + 16];
  double end = now() + (double)contend_rules.phases_seconds;
  uint32_t hosts = (uint32_t)members->hosts, unknown = 0;
  contend_routes routes;
  if (members->size > CONTEND_MOST_PHASED_RANKS) return TOO_LARGE;
  snprintf(path, sizeof path, "%s/routes.txt", contend_rules.folder);
  const char** host_names = contend_room(hosts * sizeof *host_names);
  uint32_t* place = contend_room(hosts * sizeof *place);
  uint32_t* place_of_rank = contend_room((size_t)members->size * sizeof *place_of_rank);
  name_hosts(members, names, host_names);
  enum outcome came =
      reading[contend_read_routes(path, host_names, hosts, &routes, place, &unknown)];
  if (came == MADE) {
    for (int rank = 0; rank < members->size; rank++)
      place_of_rank[rank] = place[members->host_of[rank]];
    contend_host_routes given = {routes.hosts, routes.channels, routes.begin, routes.channel};
    contend_phase_limits limits = {MOST_BYTES, has_time, &end};
    came = searching[contend_find_phases(&given, place_of_rank, (uint32_t)members->size, limits,
                                         phases)];
  }
  if (came != MADE && contend_counting) {
    static const char* const reasons[] = {"",
                                          "the file cannot be read",
                                          "a host is not in it",
                                          "a host cannot be reached by it",
                                          "the search takes too long",
                                          "the search takes too much memory"};
    fprintf(stderr, "contend: no phases by %s for %d ranks: %s%s%s\n", path, members->size,
            reasons[came], came == UNKNOWN ? ", " : "", came == UNKNOWN ? host_names[unknown] : "");
  }
  contend_free_routes(&routes);
  free(host_names);
  free(place);
  free(place_of_rank);
  return came;
}

/// Searches anew and hands out what is found, all ranks together.
static part* find_together(const contend_members* members) {
  char name[NAME_BYTES] = "", *names = NULL;
  bool first = members->rank == 0;
  contend_phases phases = {0};
  news told = {0};
  gethostname(name, sizeof name - 1);
  if (first) names = contend_room((size_t)members->size * NAME_BYTES);
  REAL(Gather)(name, NAME_BYTES, MPI_BYTE, names, NAME_BYTES, MPI_BYTE, 0, members->comm);
  if (first) {
    told.outcome = search(members, names, &phases);
    told.phases = phases.count;
    told.made_by = new_number();
  }
  free(names);
  REAL(Bcast)(&told, 3, MPI_UNSIGNED_LONG, 0, members->comm);
  part* made = contend_room(sizeof *made);
  *made = (part){.hosts_hash = members->hosts_hash,
                 .made_by = told.made_by,
                 .rank = members->rank,
                 .size = members->size,
                 .phases = -1};
  if (told.outcome == MADE) {
    int count = (int)told.phases;
    made->phases = count;
    made->to = contend_room((size_t)count * sizeof *made->to);
    made->from = contend_room((size_t)count * sizeof *made->from);
    REAL(Scatter)(phases.to, count, MPI_INT, made->to, count, MPI_INT, 0, members->comm);
    REAL(Scatter)(phases.from, count, MPI_INT, made->from, count, MPI_INT, 0, members->comm);
  }
  contend_free_phases(&phases);
  keep(made);
  return made;
}

void contend_agree_on_phases(contend_members* members) {
  if (members->phases) return;
  contend_release();
  part* own = kept_part(members);
  // Whether all ranks have kept their parts of the same search.
  uint64_t made_by = own ? own->made_by : 0;
  REAL(Bcast)(&made_by, 1, MPI_UNSIGNED_LONG, 0, members->comm);
  uint64_t have = made_by && own && own->made_by == made_by, all = 0;
  REAL(Allreduce)(&have, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, members->comm);
  bool kept = all == (uint64_t)members->size;
  if (!kept) own = find_together(members);
  members->phases = own;
  if (members->rank == 0)
    __atomic_add_fetch(&contend_phase_counts[own->phases < 0 ? NONE
                                             : kept          ? KEPT
                                                             : FOUND],
                       1, __ATOMIC_RELAXED);
}

void contend_add_phases_by_routes(const contend_members* members, contend_party* party) {
  const part* own = members->phases;
  if (own == NULL || own->phases < 0) return;
  party->phases = own->phases;
  party->phase_to = own->to;
  party->phase_from = own->from;
}
