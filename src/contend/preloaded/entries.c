// Where calls come in: one function for MPI_X and PMPI_X each, which jumps on to where its entry
// leads: to our function for that routine where it is wanted, to the library's otherwise. A library
// of the user's that wraps MPI_X, as tools do that call PMPI_X, comes first: where the program is
// linked with one, MPI_X leads there, and its PMPI_X then comes in here.
//
// What a program takes from the library's handle by dlsym is our PMPI_X too. Whoever else has a
// dlsym after ours is asked, as without us; another library of contend's then gives its own
// entries.
//
// The functions pass their arguments on as they are, whatever their types: all are whole numbers or
// addresses, so that even a program of another MPI library, whose handles look different, passes.
// They are one jump each, so that whoever they lead to sees the program's return address. To begin
// with they lead to functions that look for the library first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "entries.h"

// Of a relocation, the symbol that it is for.
#if __SIZEOF_POINTER__ == 8
#define CONTEND_SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define CONTEND_SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

void* contend_real[CONTEND_ROUTINE_COUNT];
static void* library;  // the MPI library itself
static bool found_library;
static void* wrappers[CONTEND_ROUTINE_COUNT];  // MPI_X of the user's own; NULL for none
static const char* taken_from;                 // file that routines were taken from by its handle

static void find_library(void* caller);

// A sanitizer asks for symbols before it is ready to watch anything, also where it watches us.
#define CONTEND_UNWATCHED __attribute__((no_sanitize("thread", "address")))

// The loader's own dlsym. Every glibc has it by the version that was its first.
typedef void* (*symbol_finder)(void*, const char*);
#if defined(__GLIBC__) && defined(__x86_64__) && defined(__LP64__)
#define CONTEND_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define CONTEND_FIRST_GLIBC "GLIBC_2.17"
#endif
#ifdef CONTEND_FIRST_GLIBC
static symbol_finder finder;

static CONTEND_UNWATCHED symbol_finder loaders(void) {
  symbol_finder known = __atomic_load_n(&finder, __ATOMIC_RELAXED);
  if (CONTEND_LIKELY(known != NULL)) return known;
  known = (symbol_finder)dlvsym(RTLD_NEXT, "dlsym", CONTEND_FIRST_GLIBC);
  __atomic_store_n(&finder, known, __ATOMIC_RELAXED);
  return known;
}
#define find_symbol(handle, name) loaders()(handle, name)

/// The dlsym that the program would have called without us.
static CONTEND_UNWATCHED symbol_finder next_dlsym(void) {
  static symbol_finder next;
  symbol_finder known = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (CONTEND_LIKELY(known != NULL)) return known;
  known = (symbol_finder)find_symbol(RTLD_NEXT, "dlsym");
  if (known == NULL) known = loaders();
  __atomic_store_n(&next, known, __ATOMIC_RELAXED);
  return known;
}
#else
#define find_symbol dlsym
#endif

#ifdef OPEN_MPI
struct contend_handles contend_handles;
#endif

#define ROUTINE(name, count)                    \
  static long first_##name(PARAMETERS_##count); \
  static long first_wrapped_##name(PARAMETERS_##count);
#include "routines.h"

// Where PMPI_X leads.
static void* entries[] = {
#define ROUTINE(name, count) (void*)first_##name,
#include "routines.h"
};

// Where MPI_X leads: likewise, or to who wraps it.
static void* wrapped_entries[] = {
#define ROUTINE(name, count) (void*)first_wrapped_##name,
#include "routines.h"
};

// Several threads may call while others lead entries elsewhere.
#define ENTRY(table, name, count) \
  ((long (*)(PARAMETERS_##count))__atomic_load_n(&table[contend_routine_##name], __ATOMIC_RELAXED))

#define ROUTINE(name, count)                                       \
  static long first_##name(PARAMETERS_##count) {                   \
    find_library(__builtin_return_address(0));                     \
    return ENTRY(entries, name, count)(ARGUMENTS_##count);         \
  }                                                                \
  static long first_wrapped_##name(PARAMETERS_##count) {           \
    find_library(__builtin_return_address(0));                     \
    return ENTRY(wrapped_entries, name, count)(ARGUMENTS_##count); \
  }
#include "routines.h"

// The exported functions.
#define EXPORTED __attribute__((visibility("default")))
#define ROUTINE(name, count)                                                               \
  EXPORTED long contend_entry_##name(PARAMETERS_##count) __asm__("MPI_" #name);            \
  long contend_entry_##name(PARAMETERS_##count) {                                          \
    return ENTRY(wrapped_entries, name, count)(ARGUMENTS_##count);                         \
  }                                                                                        \
  EXPORTED long contend_profiling_entry_##name(PARAMETERS_##count) __asm__("PMPI_" #name); \
  long contend_profiling_entry_##name(PARAMETERS_##count) {                                \
    return ENTRY(entries, name, count)(ARGUMENTS_##count);                                 \
  }
#include "routines.h"

static void* const exported[] = {
#define ROUTINE(name, count) (void*)contend_profiling_entry_##name,
#include "routines.h"
};

// Our functions; their types are in mpi.h, and nobody here needs them.
#define ROUTINE(name, count) extern char ours_##name[] __asm__("contend_" #name);
#include "routines.h"

static void* const ours[] = {
#define ROUTINE(name, count) (void*)ours_##name,
#include "routines.h"
};

static const char* const names[] = {
#define ROUTINE(name, count) "PMPI_" #name,
#include "routines.h"
};

// Routines that the library does not have, as where it is older than the one that this was compiled
// for. Without these entries the loader would end a program that calls one.
static long absent(const char* name) {
  fprintf(stderr, "contend: the program calls %s, which its MPI library does not have\n", name + 1);
  exit(127);
}

#define ROUTINE(name, count) \
  static long absent_##name(PARAMETERS_##count) { return absent("PMPI_" #name); }
#include "routines.h"

static void* const absentees[] = {
#define ROUTINE(name, count) (void*)absent_##name,
#include "routines.h"
};

void contend_lead(enum contend_routine routine, bool wanted) {
  bool there = contend_real[routine] != absentees[routine];
  void* target = wanted && there ? ours[routine] : contend_real[routine];
  void* wrapped = wrappers[routine] ? wrappers[routine] : target;
  __atomic_store_n(&entries[routine], target, __ATOMIC_RELEASE);
  __atomic_store_n(&wrapped_entries[routine], wrapped, __ATOMIC_RELEASE);
}

void contend_lead_all(bool wanted) {
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++)
    contend_lead((enum contend_routine)index, wanted);
}

void* contend_symbol(const char* name) { return find_symbol(library, name); }

/// Asked by a library of contend's that was preloaded before this one: the MPI library behind both.
__attribute__((visibility("default"))) void* contend_library_behind(void* caller);
void* contend_library_behind(void* caller) {
  find_library(caller);
  return library;
}

/// Where an address lies, told by where its module was loaded; -1 for nowhere.
typedef struct {
  ElfW(Addr) address, base;
} place_in_module;

static int look_in(struct dl_phdr_info* module, size_t size, void* argument) {
  place_in_module* place = argument;
  (void)size;
  for (int index = 0; index < module->dlpi_phnum; index++) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD) continue;
    if (place->address - module->dlpi_addr - segment->p_vaddr >= segment->p_memsz) continue;
    place->base = module->dlpi_addr;
    return 1;
  }
  return 0;
}

static ElfW(Addr) module_of(const void* address) {
  place_in_module place = {(ElfW(Addr))address, (ElfW(Addr)) - 1};
  if (address) dl_iterate_phdr(look_in, &place);
  return place.base;
}

/// Whether an address is ours.
static bool is_ours(const void* address) { return module_of(address) == module_of((void*)entries); }

/// Whether an address is ours, or another library of contend's.
static bool is_contends(const void* address) {
  Dl_info place;
  if (is_ours(address)) return true;
  void* handle = dladdr(address, &place) ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (handle == NULL) return false;
  void* behind = find_symbol(handle, "contend_library_behind");
  bool theirs = module_of(behind) == module_of(address);
  dlclose(handle);
  return theirs;
}

/// Where the caller would have found routines without us: among the libraries that the program was
/// started with, or those that the caller has loaded for itself, as extension modules of Python do;
/// NULL where it has them from a handle.
static void* scope_of(void* caller) {
  Dl_info place;
  struct link_map* module = NULL;
  if (find_symbol(RTLD_NEXT, "PMPI_Init")) return RTLD_NEXT;
  if (!dladdr1(caller, &place, (void**)&module, RTLD_DL_LINKMAP) || module == NULL) return NULL;
  void* handle = dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD);
  void* routine = handle ? find_symbol(handle, "PMPI_Init") : NULL;
  return routine && !is_contends(routine) ? handle : NULL;
}

/// The library that a call would have gone to without us: MPI's, or another one of contend's.
static void* next_library(void* scope) {
  Dl_info place;
  const char* file = __atomic_load_n(&taken_from, __ATOMIC_ACQUIRE);
  if (scope) file = dladdr(find_symbol(scope, "PMPI_Init"), &place) ? place.dli_fname : NULL;
  return file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/// Asked like the library behind: the user's own MPI_X that a call would have met before it.
__attribute__((visibility("default"))) void* contend_wrapper_behind(const char* name);
void* contend_wrapper_behind(const char* name) {
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++)
    if (strcmp(names[index], name) == 0) return wrappers[index];
  return NULL;
}

/// Whether the library's handles are those that this was compiled for.
static bool has_our_handles(void) {
  bool open_mpi = find_symbol(library, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
  if (!open_mpi) return false;
  // A program may have a copy of a library's variable, which all then use.
#define X(name)                                            \
  contend_handles.name = find_symbol(RTLD_DEFAULT, #name); \
  if (contend_handles.name == NULL) contend_handles.name = find_symbol(library, #name);
  CONTEND_HANDLES(X)
#undef X
  return true;
#else
  return !open_mpi;
#endif
}

/// Makes a reference unresolved, where it leads to an entry whose routine the library lacks.
static void forget(void** slot, const char* name, const ElfW(Phdr) * read_only, ElfW(Addr) base) {
  if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0) return;
  if (find_symbol(library, name) != NULL || !is_ours(*slot)) return;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot / page * page;
  bool locked = read_only && (uintptr_t)slot - base - read_only->p_vaddr < read_only->p_memsz;
  if (locked && mprotect((void*)at, page, PROT_READ | PROT_WRITE) != 0) return;
  *slot = NULL;
  if (locked) (void)mprotect((void*)at, page, PROT_READ);
}

/// Programs ask by weak references whether the library has a routine, mpi4py among them. Our
/// entries have resolved these; where the library has nothing, nothing shall be found.
static int forget_absent(struct dl_phdr_info* module, size_t size, void* unused) {
  (void)size, (void)unused;
  const ElfW(Dyn)* dynamic = NULL;
  const ElfW(Phdr)* read_only = NULL;
  for (int index = 0; index < module->dlpi_phnum; index++) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[index];
    if (segment->p_type == PT_DYNAMIC) dynamic = (void*)(module->dlpi_addr + segment->p_vaddr);
    if (segment->p_type == PT_GNU_RELRO) read_only = segment;
  }
  ElfW(Addr) values[DT_JMPREL + 1] = {0};
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag < 0 || dynamic->d_tag > DT_JMPREL) continue;
    values[dynamic->d_tag] = dynamic->d_un.d_ptr;
  }
  // The loader has made addresses of them, or not.
  static const int addresses[] = {DT_SYMTAB, DT_STRTAB, DT_RELA, DT_JMPREL};
  for (int index = 0; index < 4; index++) {
    ElfW(Addr)* value = &values[addresses[index]];
    if (*value && *value < module->dlpi_addr) *value += module->dlpi_addr;
  }
  const ElfW(Sym)* symbols = (void*)values[DT_SYMTAB];
  const char* strings = (const char*)values[DT_STRTAB];
  for (int lazy = 0; lazy < 2 && symbols && strings; lazy++) {
    const ElfW(Rela)* entry = (void*)values[lazy ? DT_JMPREL : DT_RELA];
    size_t bytes = values[lazy ? DT_PLTRELSZ : DT_RELASZ];
    if (entry == NULL || (lazy && values[DT_PLTREL] != DT_RELA)) continue;
    for (const ElfW(Rela)* end = entry + bytes / sizeof *entry; entry < end; entry++) {
      const ElfW(Sym)* symbol = &symbols[CONTEND_SYMBOL_OF(entry->r_info)];
      if (symbol->st_shndx != SHN_UNDEF || symbol->st_info >> 4 != STB_WEAK) continue;
      forget((void**)(module->dlpi_addr + entry->r_offset), strings + symbol->st_name, read_only,
             module->dlpi_addr);
    }
  }
  return 0;
}

/// Finds the library behind a caller; every entry then leads to it.
static void look_for_library(void* caller) {
  void* scope = scope_of(caller);
  void* next = next_library(scope);
  void* (*behind)(void*) =
      next ? (void* (*)(void*))find_symbol(next, "contend_library_behind") : NULL;
  void* (*wrapper)(const char*) =
      next ? (void* (*)(const char*))find_symbol(next, "contend_wrapper_behind") : NULL;
  library = behind ? behind(caller) : next;
  if (library == NULL) {
    // As the loader ends a program that lacks a routine: what is registered for its end may call
    // MPI.
    fputs("contend: a call of MPI came before any MPI library was loaded\n", stderr);
    fflush(NULL);
    _exit(127);
  }
  bool lacks = false;
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++) {
    void* routine = find_symbol(library, names[index]);
    void* sooner = behind && routine ? find_symbol(next, names[index]) : NULL;
    contend_real[index] = sooner ? sooner : routine ? routine : absentees[index];
    lacks |= routine == NULL;
    if (routine == NULL) continue;
    void* theirs = wrapper ? wrapper(names[index]) : NULL;
    if (behind == NULL && scope) theirs = find_symbol(scope, names[index] + 1);
    if (theirs && module_of(theirs) != module_of(routine)) wrappers[index] = theirs;
  }
  if (lacks) dl_iterate_phdr(forget_absent, NULL);
  contend_lead_all(false);
  if (!has_our_handles()) {
    struct link_map* module = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &module) == 0) contend_other_library(module->l_name);
    return;
  }
  contend_lead(contend_routine_Init, true);
  contend_lead(contend_routine_Init_thread, true);
#if CONTEND_MPI_4
  contend_lead(contend_routine_Session_init, true);
#endif
}

/// Finds the library, once: the first calls of several threads may come at a time.
static void find_library(void* caller) {
  static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&finding);
  if (!found_library) look_for_library(caller);
  __atomic_store_n(&found_library, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&finding);
}

#ifdef CONTEND_FIRST_GLIBC
/// Our entry for a routine that was found in the MPI library itself, or in another one of
/// contend's; NULL where it is no such routine.
static __attribute__((noinline)) void* entry_for(void* found, void* handle, const char* name) {
  int index = 0;
  if (*name == 'P') name++;
  while (index < CONTEND_ROUTINE_COUNT && strcmp(names[index] + 1, name) != 0) index++;
  if (found == NULL || index == CONTEND_ROUTINE_COUNT) return NULL;
  ElfW(Addr) module = module_of(found);
  void* known = __atomic_load_n(&found_library, __ATOMIC_ACQUIRE)
                    ? contend_real[contend_routine_Init]
                    : find_symbol(RTLD_NEXT, "PMPI_Init");
  if (known) return module == module_of(known) ? exported[index] : NULL;
  Dl_info place;
  void* init = find_symbol(handle, "PMPI_Init");
  if (module == module_of(init) && !is_contends(init) && dladdr(init, &place)) {
    // Of several libraries, the first that is still there.
    const char* earlier = __atomic_load_n(&taken_from, __ATOMIC_ACQUIRE);
    if (earlier && strcmp(earlier, place.dli_fname) == 0) return exported[index];
    void* there = earlier ? dlopen(earlier, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    char* file = there ? NULL : strdup(place.dli_fname);
    if (there) dlclose(there);
    if (file) __atomic_store_n(&taken_from, file, __ATOMIC_RELEASE);
    if (file) return exported[index];
  }
  return NULL;
}

/// A program may take routines from the library's handle, as other languages do. All else is passed
/// on by a jump, so that the loader sees who asks.
EXPORTED void* contend_dlsym(void* handle, const char* name) __asm__("dlsym");
CONTEND_UNWATCHED void* contend_dlsym(void* handle, const char* name) {
  if (handle != RTLD_DEFAULT && handle != RTLD_NEXT &&
      (strncmp(name, "MPI_", 4) == 0 || strncmp(name, "PMPI_", 5) == 0)) {
    void* found = next_dlsym()(handle, name);
    void* entry = entry_for(found, handle, name);
    return entry ? entry : found;
  }
  return next_dlsym()(handle, name);
}
#endif
