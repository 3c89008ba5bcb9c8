// Where in the program a call is. Calls from Fortran reach the C routines through libraries of the
// MPI's own (libmpi_mpifh, libmpi_usempif08, libmpifort, ...), whose return addresses say nothing:
// the one that is wanted lies further up on the stack. Calls of Python programs come out of mpi4py
// or ctypes, and python_sites.c has their lines.
//
// A Fortran call's is found by unwinding the first time. From the same place in such a library it
// then lies at the same distance, so that from the second call on it is read from there, as long as
// what is read is an address that unwinding has found before. Where the distance varies, every call
// is unwound.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unwind.h>

#include "tracer.h"

enum { MOST_LIBRARIES = 16, MOST_FRAMES = 16, PLACES = 1024, SITES = 4096 };

uintptr_t contend_own_start = UINTPTR_MAX, contend_own_end;

/// The library's own code, or what Python programs call it through. No part of it is unloaded
/// before MPI ends, so that it only grows.
typedef struct {
  uintptr_t start, bytes;
  bool of_python;
} code;

static code libraries[MOST_LIBRARIES];
static int library_count;

/// A place in a library, by return address, and how far above its caller's frame the site lies.
typedef struct {
  uintptr_t address, distance;
  bool varies;
} place;

static place places[PLACES];
static uintptr_t sites[SITES];

static const code* code_at(uintptr_t address) {
  int count = __atomic_load_n(&library_count, __ATOMIC_ACQUIRE);
  for (int index = 0; index < count; index++)
    if (address - libraries[index].start < libraries[index].bytes) return &libraries[index];
  return NULL;
}

bool contend_is_own(uintptr_t address) {
  const code* found = code_at(address);
  return found && !found->of_python;
}

static bool begins(const char* name, const char* with) {
  return strncmp(name, with, strlen(with)) == 0;
}

/// Learns a module that is a part of the MPI library, or that Python calls through, by its name.
static int learn(struct dl_phdr_info* module, size_t size, void* python) {
  (void)size;
  const char* path = module->dlpi_name;
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  bool own = begins(name, "libmpi") || begins(name, "libfmpich") || begins(name, "libpmpi");
  bool of_python = *(const bool*)python && !own &&
                   (strstr(path, "/mpi4py/") || begins(name, "_ctypes") || begins(name, "libffi"));
  if (library_count == MOST_LIBRARIES || !(own || of_python)) return 0;
  for (int index = 0; index < module->dlpi_phnum; index++) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    uintptr_t start = module->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
    if (code_at(start)) return 0;
    libraries[library_count] = (code){start, segment->p_memsz, of_python};
    __atomic_store_n(&library_count, library_count + 1, __ATOMIC_RELEASE);
    if (start < contend_own_start) __atomic_store_n(&contend_own_start, start, __ATOMIC_RELAXED);
    if (end > contend_own_end) __atomic_store_n(&contend_own_end, end, __ATOMIC_RELAXED);
    return 0;
  }
  return 0;
}

void contend_learn_own_code(void) {
  bool python = contend_find_python();
  dl_iterate_phdr(learn, &python);
}

/// What unwinding looks for and finds.
typedef struct {
  uintptr_t from;  ///< the return address where the library's own code begins
  bool seen;
  int frames;
  uintptr_t site, frame;  ///< address in the program, and end of the frame below it
} search;

static _Unwind_Reason_Code step(struct _Unwind_Context* context, void* argument) {
  search* found = argument;
  uintptr_t address = _Unwind_GetIP(context);
  if (address == found->from) found->seen = true;
  if (++found->frames > MOST_FRAMES || address == 0) return _URC_END_OF_STACK;
  if (!found->seen || contend_is_own(address)) return _URC_NO_REASON;
  found->site = address;
  // Of the frame that was called from here, that is: where its return address ends.
  found->frame = _Unwind_GetCFA(context);
  return _URC_END_OF_STACK;
}

static place* place_of(uintptr_t address) {
  for (uintptr_t slot = address * 31 % PLACES, tries = 0; tries < PLACES; tries++) {
    place* candidate = &places[(slot + tries) % PLACES];
    if (candidate->address == address || candidate->address == 0) return candidate;
  }
  return NULL;
}

/// Whether unwinding has found a site before; adds it if asked to.
static bool is_known_site(uintptr_t site, bool add) {
  for (uintptr_t slot = site * 31 % SITES, tries = 0; tries < SITES; tries++) {
    uintptr_t* candidate = &sites[(slot + tries) % SITES];
    if (*candidate == site) return true;
    if (*candidate != 0) continue;
    if (add) *candidate = site;
    return add;
  }
  return false;
}

uintptr_t contend_site_behind(uintptr_t address, uintptr_t frame) {
  const code* there = code_at(address);
  if (there ? there->of_python : contend_is_end_of_python(address))
    return contend_site_in_python(address);
  if (there == NULL) return address;
  if (contend.header) __atomic_store_n(&contend.header->fortran_calls, 1, __ATOMIC_RELAXED);
  // Threads that may call at once would race for the tables; they all unwind.
  place* known = contend.locked ? NULL : place_of(address);
#if defined(__x86_64__)
  if (known && known->address && !known->varies) {
    uintptr_t site = *(const uintptr_t*)(frame + known->distance);
    if (is_known_site(site, false)) return site;
  }
#endif
  search found = {.from = address};
  _Unwind_Backtrace(step, &found);
  if (found.site == 0) return address;
#if defined(__x86_64__)
  // A return address lies just below the end of the frame that returns to it.
  uintptr_t distance = found.frame - sizeof(uintptr_t) - frame;
  if (known) {
    known->varies = known->varies || (known->address && known->distance != distance);
    known->address = address;
    known->distance = distance;
    is_known_site(found.site, true);
  }
#endif
  return found.site;
}
