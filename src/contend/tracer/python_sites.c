// Where in a Python program a call is that comes out of mpi4py or ctypes, where the return address
// is the same for all of the program: file and line of the topmost frame of the thread's.
//
// mpi4py gives up the interpreter's lock around a call, and to take it here could deadlock the
// program, so Python cannot be asked for the frame. But that stays as it is while its thread is in
// the call: it is read from where each known version of Python has it. Until what was read has
// proven to be a code with its name and lines, the kernel reads it, which fails instead of
// faulting.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracer.h"

enum { PLACES = 4096, MOST_PLACES = PLACES / 2, MOST_FILES = 256, LINE_BITS = 24 };
enum { MOST_FRAMES = 64, MOST_NAME = 1024, TYPE = 8, IMPORTER = 1 };
// Nothing of a process has such addresses.
#define FIRST_SOURCE (UINTPTR_MAX << 40)

/// Of Python's functions those that only read, so that no lock is needed.
#define OF_PYTHON(EACH)                              \
  EACH(const char*, Py_GetVersion, (void))           \
  EACH(int, Py_IsInitialized, (void))                \
  EACH(void*, PyGILState_GetThisThreadState, (void)) \
  EACH(int, PyCode_Addr2Line, (uintptr_t, int))      \
  EACH(ssize_t, PyUnicode_GetLength, (uintptr_t))    \
  EACH(uint32_t, PyUnicode_ReadChar, (uintptr_t, ssize_t))

static struct {
#define DECLARE(result, name, parameters) result(*name) parameters;
  OF_PYTHON(DECLARE)
#undef DECLARE
  uintptr_t code, text, bytes;  // types
} python;

/// Where a version has what is read, in bytes from the beginning of what has it.
typedef struct {
  int minor;                        ///< of Python 3
  int frame, behind;                ///< in a thread's state, and in what that points to unless -1
  int code, previous, instruction;  ///< in a frame
  int unit;         ///< bytes of an instruction that has a number; 0 where it is an address
  int begin;        ///< of instructions, in a code
  int name, lines;  ///< likewise
} layout;

static const layout layouts[] = {
    {9, 24, -1, 32, 24, 104, 1, 0, 104, 120},  {10, 24, -1, 32, 24, 96, 2, 0, 104, 120},
    {11, 56, 8, 32, 48, 56, 0, 184, 112, 136}, {12, 56, 0, 0, 8, 56, 0, 192, 112, 136},
    {13, 72, -1, 0, 8, 56, 0, 200, 112, 136},
};
static const layout* _Atomic known;  // NULL where nothing can be read
static atomic_bool refuted, proven;  // that it is what it is taken for

/// A place in the program. Another code may come to lie where one was: hardly with its name and
/// lines in the same places as well, but for texts that are run, which are not kept.
typedef struct {
  uintptr_t code, name, lines;
  int at;
  uintptr_t site;  ///< or IMPORTER; written last, as other threads may read
} place;

static place places[PLACES];
static unsigned place_count, file_count;
static char* files[MOST_FILES];

bool contend_find_python(void) {
  if (known || refuted) return known != NULL;
  bool all = true;
#define FIND(result, name, parameters) \
  all = all && (python.name = (result(*) parameters)dlsym(RTLD_DEFAULT, #name)) != NULL;
  OF_PYTHON(FIND)
#undef FIND
  python.code = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
  python.text = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  python.bytes = (uintptr_t)dlsym(RTLD_DEFAULT, "PyBytes_Type");
  int minor;
  if (!all || sscanf(python.Py_GetVersion(), "3.%d", &minor) != 1) return false;
  // Other builds have more in each object.
  if (strstr(python.Py_GetVersion(), "free-threading") ||
      dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount"))
    return false;
  for (size_t index = 0; index < sizeof layouts / sizeof *layouts; index++)
    if (layouts[index].minor == minor) known = &layouts[index];
  return known != NULL;
}

/// What is at an address; 0 where nothing is.
static uintptr_t word_at(uintptr_t address, int offset) {
  address += (uintptr_t)offset;
  if (CONTEND_LIKELY(proven)) return *(const uintptr_t*)address;
  uintptr_t word = 0;
  struct iovec to = {&word, sizeof word}, from = {(void*)address, sizeof word};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof word ? word : 0;
}

/// Reads where a frame is; whether it runs a code of Python's.
static bool read_place(const layout* there, uintptr_t frame, place* read) {
  read->code = word_at(frame, there->code);
  if (read->code == 0 || word_at(read->code, TYPE) != python.code) return false;
  read->name = word_at(read->code, there->name);
  read->lines = word_at(read->code, there->lines);
  uintptr_t at = word_at(frame, there->instruction);
  read->at = there->unit ? (int)at * there->unit : (int)(at - read->code - (uintptr_t)there->begin);
  return true;
}

/// The entry of a place, or the one that it would get.
static place* entry_of(const place* read) {
  for (uintptr_t slot = (read->code >> 4) * 31 + (uintptr_t)read->at;; slot++) {
    place* entry = &places[slot % PLACES];
    if (__atomic_load_n(&entry->site, __ATOMIC_ACQUIRE) == 0) return entry;
    if (entry->code == read->code && entry->at == read->at && entry->name == read->name &&
        entry->lines == read->lines)
      return entry;
  }
}

/// A text of Python's in UTF-8, its beginning if it is long.
static void copy_text(uintptr_t text, char* to) {
  const char* end = to + MOST_NAME - 5;
  ssize_t length = python.PyUnicode_GetLength(text);
  for (ssize_t index = 0; index < length && to < end; index++) {
    uint32_t code = python.PyUnicode_ReadChar(text, index);
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> (6 * more));
    while (more--) *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
  }
  *to = '\0';
}

/// What stands for a line in a record: as if its file were a module with a byte for each line.
static uintptr_t site_of(const char* file, int line) {
  unsigned index = 0;
  while (index < file_count && strcmp(files[index], file) != 0) index++;
  uintptr_t start = FIRST_SOURCE + ((uintptr_t)index << LINE_BITS);
  if (index == file_count) {
    if (index == MOST_FILES || (files[index] = strdup(file)) == NULL) return 0;
    file_count++;
    contend_note_source(start, start + (1 << LINE_BITS) - 1, file);
  }
  return start + (line > 0 && line < 1 << LINE_BITS ? (uintptr_t)line : 0);
}

/// Whether what was read has a name and lines, as codes of Python have.
static bool is_code(const place* read) {
  return word_at(read->name, TYPE) == python.text && word_at(read->lines, TYPE) == python.bytes;
}

/// The file and the line of a place; -1 for what imports a module, and what leads from C to Python,
/// which is no place in the program.
static int line_of(const place* read, char* file) {
  copy_text(read->name, file);
  if (strncmp(file, "<frozen importlib", 17) == 0 || strcmp(file, "<shim>") == 0) return -1;
  return python.PyCode_Addr2Line(read->code, read->at);
}

/// The site of a place that is not known yet; 0 where there is no room for it.
static uintptr_t learn(const place* read) {
  if (!is_code(read)) {
    refuted = true;
    known = NULL;
    return 0;
  }
  proven = true;
  char file[MOST_NAME];
  int line = line_of(read, file);
  bool is_program = line >= 0;
  contend_lock();
  uintptr_t site = is_program ? site_of(file, line) : IMPORTER;
  place* entry = entry_of(read);
  if (site && entry->site == 0 && place_count < MOST_PLACES && (*file != '<' || !is_program)) {
    *entry = *read;
    __atomic_store_n(&entry->site, site, __ATOMIC_RELEASE);
    place_count++;
  }
  contend_unlock();
  return site;
}

/// The topmost frame of this thread's; 0 where there is none.
static uintptr_t topmost(const layout* there) {
  // Python ends before mpi4py ends MPI.
  if (there == NULL || !python.Py_IsInitialized()) return 0;
  uintptr_t thread = (uintptr_t)python.PyGILState_GetThisThreadState();
  uintptr_t frame = thread ? word_at(thread, there->frame) : 0;
  return frame && there->behind >= 0 ? word_at(frame, there->behind) : frame;
}

/// Whether a file is of Python's own library.
static bool is_standard(const char* file) {
  return strstr(file, "/lib/python3.") != NULL && strstr(file, "-packages/") == NULL;
}

int contend_line_in_python(char* file, size_t room) {
  const layout* there = known;
  uintptr_t frame = topmost(there);
  int told = 0;
  for (int depth = 0; frame && depth < MOST_FRAMES; depth++) {
    place read = {.site = 0};
    char name[MOST_NAME];
    int line = read_place(there, frame, &read) && is_code(&read) ? line_of(&read, name) : 0;
    // What the program called in Python's own library is told where nothing else is.
    if (line > 0 && strlen(name) < room && !(told && is_standard(name))) {
      strncpy(file, name, room);  // with zeros behind it, as other texts of a record have
      told = line;
      if (!is_standard(name)) break;
    }
    frame = word_at(frame, there->previous);
  }
  return told;
}

bool contend_is_end_of_python(uintptr_t address) {
  Dl_info there, python_itself;
  return known && !python.Py_IsInitialized() && dladdr((void*)address, &there) &&
         dladdr((void*)python.Py_GetVersion, &python_itself) &&
         there.dli_fbase == python_itself.dli_fbase;
}

uintptr_t contend_site_in_python(uintptr_t address) {
  const layout* there = known;
  if (there && !python.Py_IsInitialized()) {
    contend_lock();
    uintptr_t end = site_of("the end of Python", 0);
    contend_unlock();
    return end ? end : address;
  }
  uintptr_t frame = topmost(there);
  for (int depth = 0; frame && depth < MOST_FRAMES; depth++) {
    place read = {.site = 0};
    if (read_place(there, frame, &read)) {
      uintptr_t site = __atomic_load_n(&entry_of(&read)->site, __ATOMIC_ACQUIRE);
      if (site == 0) site = learn(&read);
      if (site != IMPORTER) return site ? site : address;
    }
    frame = word_at(frame, there->previous);
  }
  return address;
}
