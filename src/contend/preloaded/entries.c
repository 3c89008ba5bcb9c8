// Where calls come in: one function for MPI_X and PMPI_X each, which jumps on to where its entry
// leads: to our function for that routine where it is wanted, to the library's otherwise.
//
// The functions pass their arguments on as they are, whatever their types: all are whole numbers or
// addresses, so that even a program of another MPI library, whose handles look different, passes.
// They are one jump each, so that whoever they lead to sees the program's return address. To begin
// with they lead to functions that look for the library first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
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

static void find_library(void* caller);

#ifdef OPEN_MPI
struct contend_handles contend_handles;
#endif

#define ROUTINE(name, count) static long first_##name(PARAMETERS_##count);
#include "routines.h"

static void* entries[] = {
#define ROUTINE(name, count) (void*)first_##name,
#include "routines.h"
};

// Several threads may call while others lead entries elsewhere.
#define ENTRY(name, count)                                                         \
  ((long (*)(PARAMETERS_##count))__atomic_load_n(&entries[contend_routine_##name], \
                                                 __ATOMIC_RELAXED))

#define ROUTINE(name, count)                      \
  static long first_##name(PARAMETERS_##count) {  \
    find_library(__builtin_return_address(0));    \
    return ENTRY(name, count)(ARGUMENTS_##count); \
  }
#include "routines.h"

// The exported functions.
#define EXPORTED __attribute__((visibility("default")))
#define ROUTINE(name, count)                                                                      \
  EXPORTED long contend_entry_##name(PARAMETERS_##count) __asm__("MPI_" #name);                   \
  long contend_entry_##name(PARAMETERS_##count) { return ENTRY(name, count)(ARGUMENTS_##count); } \
  EXPORTED long contend_profiling_entry_##name(PARAMETERS_##count) __asm__("PMPI_" #name)         \
      __attribute__((alias("MPI_" #name)));
#include "routines.h"

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
  __atomic_store_n(&entries[routine], target, __ATOMIC_RELEASE);
}

void contend_lead_all(bool wanted) {
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++)
    contend_lead((enum contend_routine)index, wanted);
}

void* contend_symbol(const char* name) { return dlsym(library, name); }

/// Asked by a library of contend's that was preloaded before this one: the MPI library behind both.
__attribute__((visibility("default"))) void* contend_library_behind(void* caller);
void* contend_library_behind(void* caller) {
  if (library == NULL) find_library(caller);
  return library;
}

/// The library that a call would have gone to without us: MPI's, or another one of contend's.
static void* next_library(void* caller) {
  void* routine = dlsym(RTLD_NEXT, "PMPI_Init");
  Dl_info place;
  if (routine == NULL) {
    // It is not among the libraries that the program was started with, but one of those that the
    // caller has loaded for itself, as extension modules of Python do.
    struct link_map* module = NULL;
    if (!dladdr1(caller, &place, (void**)&module, RTLD_DL_LINKMAP) || module == NULL) return NULL;
    void* handle = dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD);
    routine = handle ? dlsym(handle, "PMPI_Init") : NULL;
  }
  if (routine == NULL || !dladdr(routine, &place)) return NULL;
  return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/// Whether the library's handles are those that this was compiled for.
static bool has_our_handles(void) {
  bool open_mpi = dlsym(library, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
  if (!open_mpi) return false;
  // A program may have a copy of a library's variable, which all then use.
#define X(name)                                      \
  contend_handles.name = dlsym(RTLD_DEFAULT, #name); \
  if (contend_handles.name == NULL) contend_handles.name = dlsym(library, #name);
  CONTEND_HANDLES(X)
#undef X
  return true;
#else
  return !open_mpi;
#endif
}

/// Whether an address is ours.
static bool is_ours(const void* address) {
  Dl_info own, place;
  return dladdr((void*)entries, &own) && dladdr(address, &place) &&
         own.dli_fbase == place.dli_fbase;
}

/// Makes a reference unresolved, where it leads to an entry whose routine the library lacks.
static void forget(void** slot, const char* name, const ElfW(Phdr) * read_only, ElfW(Addr) base) {
  if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0) return;
  if (dlsym(library, name) != NULL || !is_ours(*slot)) return;
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

/// Finds the library behind a caller, once; every entry then leads to it.
static void find_library(void* caller) {
  void* next = next_library(caller);
  void* (*behind)(void*) = next ? (void* (*)(void*))dlsym(next, "contend_library_behind") : NULL;
  library = behind ? behind(caller) : next;
  if (library == NULL) {
    fputs("contend: a call of MPI came before any MPI library was loaded\n", stderr);
    exit(127);
  }
  bool lacks = false;
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++) {
    void* routine = dlsym(library, names[index]);
    void* sooner = behind && routine ? dlsym(next, names[index]) : NULL;
    contend_real[index] = sooner ? sooner : routine ? routine : absentees[index];
    lacks |= routine == NULL;
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
}
