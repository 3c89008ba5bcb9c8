// Whether all ranks have the library, and agree. On a host that does not see its file they have it
// not, and then those that have must leave the program alone: what they do together would keep the
// others' from ending.
//
// Rank 0 leaves a file with a word of its own, which nobody has used before; every other rank
// answers with a file that has this word and what it goes by. So what killed programs have left
// says nothing. When rank 0 has all answers and they are alike, it passes the word down a binomial
// tree, by messages that are all awaited, as nobody has gone on yet. Otherwise it leaves a file
// that says so, and tells the user. It alone decides: who has answered waits for either, and who
// does not see rank 0's file has not answered. Ranks leave MPI_Init together, so that it takes no
// longer than files do to be seen.
#define _GNU_SOURCE
#include "signing_in.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entries.h"

enum { NAME = 4096, TAG = 32767, SHORTEST_NAP_NS = 100000, LONGEST_NAP_NS = 100000000 };
enum {
  KEY = 24,
  WORD = 160,
  TEXT = WORD + 24,
  HOST = 64,
  MOST_SHOWN = 8,
  PMIX_STRING = 3,
  MOST_ANCESTORS = 16
};
static const int64_t SECOND_NS = INT64_C(1000000000);
static const int64_t PATIENCE_NS = 3 * INT64_C(1000000000);  // with ranks that are not to be seen

static const contend_guest* own;
static int rank, size;
static uint64_t launch_hash;  // of what the launcher calls the ranks
static char key[KEY];         // begins the names of a launch's files
static MPI_Comm together;
static char word[WORD];  // rank 0's

enum answer { ABSENT, HERE, DIFFERS };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static uint64_t add_hash(uint64_t hash, const char* text) {
  for (; text && *text; text++) hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

/// What MPICH's launcher gave those that it started on every host: where they find it.
static uint64_t add_control_port(uint64_t hash) {
  long process = getppid();
  for (int tries = 0; tries < MOST_ANCESTORS && process > 1; tries++) {
    char path[64], text[NAME];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length < 0) break;
    text[length] = '\0';
    for (char* at = text; at < text + length; at += strlen(at) + 1)
      if (strcmp(at, "--control-port") == 0 && at + strlen(at) + 1 < text + length)
        return add_hash(hash, at + strlen(at) + 1);
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE* status = fopen(path, "re");
    char* end = status && fgets(text, sizeof text, status) ? strrchr(text, ')') : NULL;
    if (status) fclose(status);
    if (end == NULL || sscanf(end + 1, " %*c %ld", &process) != 1) break;
  }
  return hash;
}

/// The same name on all ranks of a launch, and another one for others at the same time.
static void name_launch(void) {
  static const char* const told[] = {"CONTEND_TUNED_RUN", "PMIX_NAMESPACE", "SLURM_JOB_ID",
                                     "SLURM_STEP_ID",     "PMI_JOBID",      "FLUX_JOB_ID",
                                     "PALS_APID",         "LSB_JOBID",      "PBS_JOBID"};
  uint64_t hash = add_hash(0xcbf29ce484222325u, own->library);
  for (size_t index = 0; index < sizeof told / sizeof *told; index++)
    hash = add_hash(hash, getenv(told[index]));
  if (getenv("PMIX_NAMESPACE") == NULL && getenv("PMI_FD")) hash = add_control_port(hash);
  launch_hash = hash;
}

/// Path of one of the launch's files.
static const char* file_of(const char* what, int who, char* path) {
  int length = who < 0 ? snprintf(path, NAME, "%s/%s.%s", own->folder, key, what)
                       : snprintf(path, NAME, "%s/%s.%s-%06d", own->folder, key, what, who);
  return length < NAME ? path : "";
}

/// Writes a file whole, over what is there.
static bool leave(const char* path, const char* text) {
  char made[NAME];
  file_of("new", rank, made);
  int file = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  bool good = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  return good && rename(made, path) == 0;
}

static bool read_whole(const char* path, char* text) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, TEXT - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
  return length > 0;
}

/// What a rank says that goes by rank 0's word.
static void answer_text(char* text) {
  snprintf(text, TEXT, "%s %016llx", word, (unsigned long long)own->hash);
}

/// Makes a host see what others have done to the folder: after a change of its own it asks anew.
static void look_anew(void) {
  char path[NAME];
  if (leave(file_of("look", rank, path), "-")) unlink(path);
}

/// Looks for answers of those that have not given one; how many ranks are there by now.
static int count_answers(enum answer* answers) {
  char path[NAME], text[TEXT], wanted[TEXT], name[KEY + 8];
  size_t length = (size_t)snprintf(name, sizeof name, "%s.answer-", key);
  int count = 0;
  answer_text(wanted);
  look_anew();
  DIR* files = opendir(own->folder);
  if (files == NULL) return 0;
  for (struct dirent* file; (file = readdir(files));) {
    char* end;
    if (strncmp(file->d_name, name, length) != 0) continue;
    long who = strtol(file->d_name + length, &end, 10);
    if (*end || who < 0 || who >= size || answers[who] != ABSENT) continue;
    if (!read_whole(file_of("answer", (int)who, path), text)) continue;
    // Without rank 0's word nobody knows which launch is meant; then it is only said who is here.
    if (*word && strncmp(text, word, strlen(word)) != 0) continue;
    answers[who] = *word && strcmp(text, wanted) != 0 ? DIFFERS : HERE;
  }
  closedir(files);
  for (int who = 0; who < size; who++) count += answers[who] != ABSENT;
  return count;
}

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

/// Lists ranks with one kind of answer, by host: `1-3 on node7, 9 on node8`; how many.
static int list(const enum answer* answers, enum answer which, char* text, size_t room) {
  size_t length = 0;
  int shown = 0, count = 0;
  for (int who = 0; who < size; who++) count += answers[who] == which;
  text[0] = '\0';
  for (int who = 0, last; who < size && length < room; who = last + 1) {
    char host[HOST] = "", next[HOST];
    last = who;
    if (answers[who] != which) continue;
    if (shown++ == MOST_SHOWN) {
      snprintf(text + length, room - length, ", ...");
      return count;
    }
    find_host(who, host);
    for (; last + 1 < size && answers[last + 1] == which; last++) {
      find_host(last + 1, next);
      if (strcmp(host, next) != 0) break;
    }
    char to[16] = "";
    if (last > who) snprintf(to, sizeof to, "-%d", last);
    length += (size_t)snprintf(text + length, room - length, "%s%d%s%s%s", shown > 1 ? ", " : "",
                               who, to, *host ? " on " : "", host);
  }
  return count;
}

/// Whether all that are missing are known to be on this host.
static bool all_near(const enum answer* answers) {
  char host[HOST], here[HOST] = "";
  find_host(rank, here);
  for (int who = 0; who < size; who++) {
    if (answers[who] != ABSENT) continue;
    find_host(who, host);
    if (*host == '\0' || strcmp(host, here) != 0) return false;
  }
  return true;
}

/// Says who is missing or differs, in one line.
static void tell(enum answer* answers) {
  char host[HOST] = "", absent[1024], other[1024], line[NAME + 2048];
  answers[rank] = HERE;
  count_answers(answers);
  bool near = all_near(answers);
  int missing = list(answers, ABSENT, absent, sizeof absent);
  int differ = list(answers, DIFFERS, other, sizeof other);
  gethostname(host, sizeof host - 1);
  int length = snprintf(line, sizeof line, "contend: ");
  if (missing)
    length +=
        snprintf(line + length, sizeof line - (size_t)length,
                 "%d of %d ranks (%s) run without %s: %s%s%stheir environment lacks LD_PRELOAD or "
                 "variables of contend%s",
                 missing, size, absent, own->library, near ? "" : "their hosts do not see ",
                 near ? "" : own->folder, near ? "" : ", or ", differ ? ", and " : "");
  if (differ && length < (int)sizeof line)
    snprintf(line + length, sizeof line - (size_t)length,
             "%d of %d ranks (%s) have another %s than rank %d on %s", differ, size, other,
             own->agreement, rank, host);
  fprintf(stderr, "%s; ", line);
  fprintf(stderr, own->consequence, rank, host);
  fputc('\n', stderr);
}

/// Rests for a while, each time a little longer.
static void rest(int64_t* nap) {
  struct timespec time = {0, *nap};
  nanosleep(&time, NULL);
  if (*nap < LONGEST_NAP_NS) *nap *= 2;
}

/// Makes up rank 0's word.
static void make_word(void) {
  char host[HOST] = "";
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  gethostname(host, sizeof host - 1);
  snprintf(word, sizeof word, "%s.%ld.%lld.%09ld", host, (long)getpid(), (long long)now.tv_sec,
           now.tv_nsec);
}

/// What rank 0 sees: whether all have answered, and alike, before nobody has for a while.
static bool all_agree(void) {
  char path[NAME], host[HOST] = "";
  enum answer* answers = calloc((size_t)size, sizeof *answers);
  if (answers == NULL) return false;
  gethostname(host, sizeof host - 1);
  answers[0] = HERE;
  if (!leave(file_of("first", -1, path), word)) {
    fprintf(stderr, "contend: %s cannot be written on %s, where ranks sign in: ", own->folder,
            host);
    fprintf(stderr, own->consequence, rank, host);
    fputc('\n', stderr);
    free(answers);
    return false;
  }
  int count = 1;
  int64_t until = now_ns() + PATIENCE_NS, nap = SHORTEST_NAP_NS;
  for (; count < size && now_ns() < until; rest(&nap)) {
    int before = count;
    if ((count = count_answers(answers)) > before) until = now_ns() + PATIENCE_NS;
    if (count == size) break;
  }
  bool alike = count == size;
  for (int who = 0; who < size; who++) alike = alike && answers[who] == HERE;
  if (!alike) {
    leave(file_of("apart", -1, path), word);
    tell(answers);
  }
  unlink(file_of("first", -1, path));
  free(answers);
  return alike;
}

/// What another rank looks at now and then: whether it is to give up.
static bool is_apart(int64_t begun) {
  char path[NAME], text[TEXT], reply[TEXT];
  static bool waits;
  if (read_whole(file_of("first", -1, path), text) && strcmp(text, word) != 0) {
    snprintf(word, sizeof word, "%.*s", WORD - 1, text);
    answer_text(reply);
    leave(file_of("answer", rank, path), reply);
  }
  if (*word) return read_whole(file_of("apart", -1, path), text) && strcmp(text, word) == 0;
  int64_t waited = now_ns() - begun;
  if (waited > SECOND_NS) look_anew();
  if (waited > SECOND_NS && !waits) waits = leave(file_of("answer", rank, path), "-");
  if (waited < PATIENCE_NS) return false;
  // Rank 0 is not there: one of the others says so.
  int file = open(file_of("alone", -1, path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  enum answer* answers = file < 0 ? NULL : calloc((size_t)size, sizeof *answers);
  if (answers) tell(answers);
  if (file >= 0) close(file);
  free(answers);
  return true;
}

/// Whether the word comes that all agree, before it is said that they do not.
static bool word_comes(int parent) {
  int done = 0, cancelled = 0;
  int64_t begun = now_ns(), nap = SHORTEST_NAP_NS, look = begun;
  MPI_Request request;
  MPI_Status status;
  if (REAL(Irecv)(NULL, 0, MPI_BYTE, parent, TAG, together, &request) != MPI_SUCCESS) return false;
  while (REAL(Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    sched_yield();
    if (now_ns() < look) continue;
    look = now_ns() + nap;
    if (nap < LONGEST_NAP_NS) nap *= 2;
    if (!is_apart(begun)) continue;
    int (*ask)(const MPI_Status*, int*) = (__typeof__(ask))contend_symbol("PMPI_Test_cancelled");
    REAL(Cancel)(&request);
    REAL(Wait)(&request, &status);
    ask(&status, &cancelled);
    return !cancelled;
  }
  return done;
}

void contend_get_ready_to_sign_in(const contend_guest* guest, int own_rank, int all) {
  own = guest, rank = own_rank, size = all;
  name_launch();
  if (rank == 0) make_word();
}

bool contend_sign_in(MPI_Comm all, const char* name) {
  char path[NAME];
  together = all;
  uint64_t hash = name ? add_hash(launch_hash, name) : launch_hash;
  snprintf(key, sizeof key, "%016llx", (unsigned long long)hash);
  if (size == 1) return true;
  bool agree = rank == 0 ? all_agree() : word_comes(rank & (rank - 1));
  if (rank > 0 && *word) unlink(file_of("answer", rank, path));
  for (int distance = 1; agree && distance < size && !(rank & distance); distance *= 2)
    if (rank + distance < size) REAL(Send)(NULL, 0, MPI_BYTE, rank + distance, TAG, together);
  return agree;
}

void contend_write_launch(char* text, size_t room) {
  snprintf(text, room, "%016llx %s", (unsigned long long)launch_hash, word);
}
