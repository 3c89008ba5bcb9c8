// Where calls come in: one function for MPI_X and PMPI_X each, which jumps on to where its entry
// leads: to the recorder's function while there is a record, to the library's otherwise.
//
// The functions pass their arguments on as they are, whatever their types: all are whole numbers or
// addresses, so that even a program of another MPI library, whose handles look different, passes.
// They are one jump each, so that whoever they lead to sees the program's return address. To begin
// with they lead to functions that look for the library first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer.h"

#define PARAMETERS_0 void
#define PARAMETERS_1 long a
#define PARAMETERS_2 PARAMETERS_1, long b
#define PARAMETERS_3 PARAMETERS_2, long c
#define PARAMETERS_4 PARAMETERS_3, long d
#define PARAMETERS_5 PARAMETERS_4, long e
#define PARAMETERS_6 PARAMETERS_5, long f
#define PARAMETERS_7 PARAMETERS_6, long g
#define PARAMETERS_8 PARAMETERS_7, long h
#define PARAMETERS_9 PARAMETERS_8, long i
#define PARAMETERS_10 PARAMETERS_9, long j
#define PARAMETERS_11 PARAMETERS_10, long k
#define PARAMETERS_12 PARAMETERS_11, long l
#define PARAMETERS_13 PARAMETERS_12, long m
#define ARGUMENTS_0
#define ARGUMENTS_1 a
#define ARGUMENTS_2 ARGUMENTS_1, b
#define ARGUMENTS_3 ARGUMENTS_2, c
#define ARGUMENTS_4 ARGUMENTS_3, d
#define ARGUMENTS_5 ARGUMENTS_4, e
#define ARGUMENTS_6 ARGUMENTS_5, f
#define ARGUMENTS_7 ARGUMENTS_6, g
#define ARGUMENTS_8 ARGUMENTS_7, h
#define ARGUMENTS_9 ARGUMENTS_8, i
#define ARGUMENTS_10 ARGUMENTS_9, j
#define ARGUMENTS_11 ARGUMENTS_10, k
#define ARGUMENTS_12 ARGUMENTS_11, l
#define ARGUMENTS_13 ARGUMENTS_12, m

// Of a relocation, the symbol that it is for.
#if __SIZEOF_POINTER__ == 8
#define CONTEND_SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define CONTEND_SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

void* contend_real[CONTEND_ROUTINE_COUNT];
static void* library;

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

#define ENTRY(name, count) ((long (*)(PARAMETERS_##count))entries[contend_routine_##name])

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

// Calls on files: timed, as calls on MPI_COMM_WORLD, with nothing said of what they send.
#define ROUTINE(name, count)
#define FILE_ROUTINE(name, count)                                                  \
  static long contend_##name(PARAMETERS_##count) {                                 \
    long (*real)(PARAMETERS_##count) =                                             \
        (long (*)(PARAMETERS_##count))contend_real[contend_routine_##name];        \
    contend_call call;                                                             \
    if (!contend_enter(&call, contend_routine_##name, __builtin_return_address(0), \
                       __builtin_frame_address(0)))                                \
      return real(ARGUMENTS_##count);                                              \
    long result = real(ARGUMENTS_##count);                                         \
    contend_leave(&call);                                                          \
    contend_note(&call, CONTEND_WORLD, 0, CONTEND_NO_PEER, 0, CONTEND_NO_REQUEST); \
    contend_done();                                                                \
    return result;                                                                 \
  }
#include "routines.h"

// The recorder's functions; their types are in mpi.h, and nobody here needs them.
#define ROUTINE(name, count) extern char contend_##name[] __asm__("contend_" #name);
#define FILE_ROUTINE(name, count)
#include "routines.h"

static void* const recorders[] = {
#define ROUTINE(name, count) (void*)contend_##name,
#include "routines.h"
};

static const char* const names[] = {
#define ROUTINE(name, count) "PMPI_" #name,
#include "routines.h"
};

// Routines that the library does not have, as where it is older than the one that this was compiled
// for. Without the recorder the loader would end a program that calls one.
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

void contend_redirect_end(void) {
  entries[contend_routine_Finalize] = recorders[contend_routine_Finalize];
}

void contend_redirect(bool recorded) {
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++) {
    bool there = contend_real[index] != absentees[index];
    entries[index] = recorded && there ? recorders[index] : contend_real[index];
  }
}

void* contend_symbol(const char* name) { return dlsym(library, name); }

/// The library that a call would have gone to without the recorder.
static void* library_behind(void* caller) {
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

/// Whether an address is the recorder's own.
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

/// Programs ask by weak references whether the library has a routine, mpi4py among them. The
/// recorder's entries have resolved these; where the library has nothing, nothing shall be found.
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

/// Leaves word of a library that the recorder was not compiled for: its ranks run unrecorded.
static void tell_other_library(void) {
  const char* folder = getenv("CONTEND_PROFILE");
  struct link_map* module = NULL;
  char path[4096];
  if (folder == NULL || *folder == '\0') return;
  if (dlinfo(library, RTLD_DI_LINKMAP, &module) != 0) return;
  if (snprintf(path, sizeof path, "%s/" CONTEND_OTHER_LIBRARY, folder) >= (int)sizeof path) return;
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return;
  dprintf(file, "%s\n", module->l_name);
  close(file);
}

/// Finds the library behind a caller, once; every entry then leads to it.
static void find_library(void* caller) {
  library = library_behind(caller);
  if (library == NULL) {
    fputs("contend: a call of MPI came before any MPI library was loaded\n", stderr);
    exit(127);
  }
  bool lacks = false;
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++) {
    void* routine = dlsym(library, names[index]);
    contend_real[index] = routine ? routine : absentees[index];
    lacks |= routine == NULL;
  }
  if (lacks) dl_iterate_phdr(forget_absent, NULL);
  contend_redirect(false);
  if (!has_our_handles()) {
    tell_other_library();
    return;
  }
  entries[contend_routine_Init] = recorders[contend_routine_Init];
  entries[contend_routine_Init_thread] = recorders[contend_routine_Init_thread];
}
