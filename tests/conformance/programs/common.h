/// What the programs share: lines of output, hashes of what was received, and what a program knows
/// of its own calls. With KNOWN=FOLDER each rank writes `NAME CALLS BYTES` of its routines there,
/// to be held against the recorder; bytes are `?` where the program does not say them.
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define MPI_4 1
#else
#define MPI_4 0
#endif

static int rank, size;

enum { ROUTINES = 96 };
typedef struct {
  const char* name;
  long long calls, bytes;
  int silent;
} known_calls;
static known_calls known[ROUTINES];
/// Where a thread counts. A lock would bring threads into an order that they have not by
/// themselves.
static __thread known_calls* known_here = known;

static inline known_calls* calls_of(const char* name) {
  known_calls* at = known_here;
  while (at->name && strcmp(at->name, name) != 0) at++;
  at->name = name;
  return at;
}

static inline void counted(const char* name, long long bytes) {
  known_calls* calls = calls_of(name);
  calls->calls++;
  calls->bytes += bytes;
  calls->silent |= bytes < 0;
}

/// Adds what a thread has counted that has ended.
static inline void count_thread(const known_calls* its) {
  for (; its->name; its++) {
    known_calls* calls = calls_of(its->name);
    calls->calls += its->calls;
    calls->bytes += its->bytes;
    calls->silent |= its->silent;
  }
}

/// A call that is counted; MOVE says its bytes too.
#define CALL(name, ...) (counted("MPI_" #name, -1), MPI_##name(__VA_ARGS__))
#define MOVE(bytes, name, ...) (counted("MPI_" #name, bytes), MPI_##name(__VA_ARGS__))

static inline void tell_known(void) {
  const char* folder = getenv("KNOWN");
  if (!folder) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  for (int at = 0; known[at].name; at++)
    if (known[at].silent)
      fprintf(file, "%s %lld ?\n", known[at].name, known[at].calls);
    else
      fprintf(file, "%s %lld %lld\n", known[at].name, known[at].calls, known[at].bytes);
  fclose(file);
}

/// A line of this rank's, written at once.
__attribute__((format(printf, 1, 2))) static inline void say(const char* format, ...) {
  char line[2048];
  va_list words;
  int length = snprintf(line, sizeof line, "%d: ", rank);
  va_start(words, format);
  length += vsnprintf(line + length, sizeof line - length - 1, format, words);
  va_end(words);
  line[length++] = '\n';
  for (int done = 0, wrote; done < length; done += wrote)
    if ((wrote = (int)write(1, line + done, length - done)) <= 0) break;
}

static inline uint64_t hash_of(const void* data, size_t bytes) {
  const unsigned char* at = data;
  uint64_t hash = 0xcbf29ce484222325u;
  while (bytes--) hash = (hash ^ *at++) * 0x100000001b3u;
  return hash;
}

static inline void say_hash(const char* what, const void* data, size_t bytes) {
  say("%s %016llx", what, (unsigned long long)hash_of(data, bytes));
}

static inline void begin(int* count, char*** words, int level) {
  int provided;
  CALL(Init_thread, count, words, level, &provided);
  if (provided < level) MPI_Abort(MPI_COMM_WORLD, 77);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int end(void) {
  counted("MPI_Finalize", -1);
  tell_known();
  int result = MPI_Finalize();
  say("done");
  return result;
}

typedef struct {
  const char* name;
  void (*run)(void);
} theme;

/// So many, where a theme does something many times: the number before its name.
static int many;

/// Does what its arguments name, one after the other.
static inline int run_all(const theme* themes, char** words) {
  while (*++words) {
    const theme* at = themes;
    while (at->name && strcmp(at->name, *words) != 0) at++;
    if (at->name) {
      at->run();
    } else if (!(many = atoi(*words))) {
      fprintf(stderr, "no theme %s\n", *words);
      return 1;
    }
  }
  return 0;
}
