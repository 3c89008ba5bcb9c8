// Whether all ranks have the recorder. On a host that does not see its file they have not, and then
// those that have must leave MPI alone: a collective of theirs would keep the others' from ending.
//
// Ranks sign in with an empty file each in the folder of the records. When rank 0 sees all of them,
// it passes the word down a binomial tree, by messages that are all awaited, as nobody has gone on
// yet. When it does not, or somebody does not see rank 0, whoever finds out first makes a file that
// tells the others, and tells the user. Ranks leave MPI_Init together, so that it takes no longer
// than files do to be seen.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer.h"

enum { NAME = 4096, TAG = 32767, SHORTEST_NAP_NS = 100000, LONGEST_NAP_NS = 100000000 };
static const int64_t PATIENCE_NS = 3 * INT64_C(1000000000);  // with ranks that are not to be seen
static const int64_t LIMIT_NS = 60 * INT64_C(1000000000);    // with ranks that do not pass it on

static const char* folder;
static int rank, size;

static bool is_there(const char* name) { return faccessat(AT_FDCWD, name, F_OK, 0) == 0; }

static bool make(const char* path) {
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
  return file >= 0;
}

/// Where a rank signs in, or where it looks.
static const char* sign(int who, const char* what, char* path) {
  return snprintf(path, NAME, "%s/rank-%06d.%s", folder, who, what) < NAME ? path : "";
}

/// Where it stands that not all are here.
static const char* apart(char* path) {
  return snprintf(path, NAME, "%s/apart", folder) < NAME ? path : "";
}

/// Makes a host see what others have done to the folder: after a change of its own it asks anew.
static void look_anew(void) {
  char path[NAME];
  if (make(sign(rank, "look", path))) unlink(path);
}

/// How many have signed in; notes whom, where there is something to note it in.
static int count_signs(bool* here) {
  look_anew();
  DIR* files = opendir(folder);
  int count = 0, end;
  unsigned who;
  if (files == NULL) return 0;
  for (struct dirent* file; (file = readdir(files));) {
    end = 0;
    if (sscanf(file->d_name, "rank-%6u.here%n", &who, &end) < 1 || end == 0) continue;
    if (file->d_name[end] != '\0' || who >= (unsigned)size) continue;
    count++;
    if (here) here[who] = true;
  }
  closedir(files);
  return count;
}

enum { HOST = 64, MOST_SHOWN = 8, PMIX_STRING = 3 };

/// Name of a rank's host, where the launcher tells it, which those do that speak PMIx; ""
/// elsewhere.
static void find_host(int who, char* host) {
  // As pmix_proc_t and pmix_value_t are in all versions.
  struct {
    char space[256];
    uint32_t rank;
  } process = {.rank = (uint32_t)who};
  struct {
    uint16_t type;
    const char* text;
  }* value = NULL;
  host[0] = '\0';
  const char* space = getenv("PMIX_NAMESPACE");
  void* client = dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
  int (*get)(const void*, const char*, const void*, size_t, void*) =
      client ? (__typeof__(get))dlsym(client, "PMIx_Get") : NULL;
  if (get == NULL || space == NULL) return;
  snprintf(process.space, sizeof process.space, "%s", space);
  if (get(&process, "pmix.hname", NULL, 0, &value) != 0 || value == NULL) return;
  if (value->type == PMIX_STRING && value->text) snprintf(host, HOST, "%s", value->text);
}

/// Lists ranks that have not signed in, by host: `1-3 on node7, 9 on node8`.
static void list_missing(const bool* here, char* text, size_t room) {
  size_t length = 0;
  int shown = 0;
  text[0] = '\0';
  for (int who = 0, last; who < size && length < room; who = last + 1) {
    char host[HOST] = "", next[HOST];
    last = who;
    if (here[who]) continue;
    if (shown++ == MOST_SHOWN) {
      snprintf(text + length, room - length, ", ...");
      return;
    }
    find_host(who, host);
    for (; last + 1 < size && !here[last + 1]; last++) {
      find_host(last + 1, next);
      if (strcmp(host, next) != 0) break;
    }
    char to[16] = "";
    if (last > who) snprintf(to, sizeof to, "-%d", last);
    length += (size_t)snprintf(text + length, room - length, "%s%d%s%s%s", shown > 1 ? ", " : "",
                               who, to, *host ? " on " : "", host);
  }
}

/// Says who is missing, in one line; says it once among all ranks.
static void tell(void) {
  char path[NAME], host[HOST] = "", missing[1024];
  bool* here = calloc((size_t)size, sizeof *here);
  if (here == NULL || !make(apart(path))) return free(here);
  int count = size - count_signs(here);
  list_missing(here, missing, sizeof missing);
  free(here);
  gethostname(host, sizeof host - 1);
  fprintf(stderr,
          "contend: %d of %d ranks (%s) run without the recorder: their hosts do not see %s; the "
          "others, such as rank %d on %s, are recorded, and clocks are not compared\n",
          count, size, missing, folder, rank, host);
}

/// Rests for a while, each time a little longer.
static void rest(int64_t* nap) {
  struct timespec time = {0, *nap};
  nanosleep(&time, NULL);
  if (*nap < LONGEST_NAP_NS) *nap *= 2;
}

/// What rank 0 sees: whether all have signed in before nobody has for a while.
static bool all_are_seen(void) {
  char path[NAME];
  int count = 0;
  int64_t until = contend_monotonic() + PATIENCE_NS, nap = SHORTEST_NAP_NS;
  for (;; rest(&nap)) {
    int before = count;
    if ((count = count_signs(NULL)) == size) return true;
    if (is_there(apart(path))) return false;
    if (count > before) until = contend_monotonic() + PATIENCE_NS;
    if (contend_monotonic() > until) return false;
  }
}

/// Whether the word comes that all are here, before somebody says that they are not.
static bool word_comes(int parent) {
  char path[NAME];
  int done = 0;
  int64_t now = contend_monotonic(), nap = SHORTEST_NAP_NS, look = now + nap;
  int64_t first = now + PATIENCE_NS, last = now + LIMIT_NS;
  bool led = false;
  MPI_Request request;
  if (REAL(Irecv)(NULL, 0, MPI_BYTE, parent, TAG, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
    return false;
  while (REAL(Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    sched_yield();
    if ((now = contend_monotonic()) < look) continue;
    if (nap < LONGEST_NAP_NS) nap *= 2;
    look = now + nap;
    if (now > first && !led) look_anew();
    led = led || is_there(sign(0, "here", path));
    if (!is_there(apart(path)) && now <= (led ? last : first)) continue;
    REAL(Cancel)(&request);
    REAL(Wait)(&request, MPI_STATUS_IGNORE);
    return false;
  }
  return done;
}

bool contend_all_are_here(const char* records, int own, int all) {
  char path[NAME];
  folder = records, rank = own, size = all;
  if (size == 1) return true;
  // Where somebody has signed in as this rank before, it is another program of the same command.
  if (!make(sign(rank, "here", path))) {
    make(apart(path));
    return false;
  }
  bool here = rank == 0 ? all_are_seen() : word_comes(rank & (rank - 1));
  if (!here) {
    tell();
    return false;
  }
  for (int distance = 1; distance < size && !(rank & distance); distance *= 2)
    if (rank + distance < size) REAL(Send)(NULL, 0, MPI_BYTE, rank + distance, TAG, MPI_COMM_WORLD);
  // By that of rank 0 those who wait further down know that it is there.
  if (rank > 0) unlink(sign(rank, "here", path));
  return true;
}
