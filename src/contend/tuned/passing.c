// The routines that are not carried. While operations are under way, those that may wait for other
// ranks begin what is left of them first; everything else goes straight to the library.
#include <string.h>

#include "tuned.h"

// Those with a function of their own elsewhere are stronger than these.
#define ROUTINE(name, count)                                                     \
  __attribute__((weak)) long contend_##name(PARAMETERS_##count) {                \
    contend_release();                                                           \
    return ((long (*)(PARAMETERS_##count))contend_real[contend_routine_##name])( \
        ARGUMENTS_##count);                                                      \
  }
#include "routines.h"

static const char* const names[] = {
#define ROUTINE(name, count) #name,
#include "routines.h"
};

static bool begins_with(const char* name, const char* with) {
  return strncmp(name, with, strlen(with)) == 0;
}

/// Whether a routine returns without any other rank. Of MPI's names an I stands for that.
static bool is_local(const char* name) {
  static const char* const local[] = {
      "Pready",       "Cancel",        "Comm_set_name", "Type_free",     "Rput",
      "Rget",         "Raccumulate",   "File_i",        "Pack",          "Unpack",
      "Reduce_local", "Buffer_attach", "Win_attach",    "Win_detach",    "Alloc_mem",
      "Free_mem",     "Op_create",     "Grequest",      "Comm_create_e", "Comm_create_k",
      "Win_create_e", "Win_create_k",  "Type_create",   "File_create"};
  static const char* const waiting[] = {"Init", "Intercomm", "Iprobe", "Improbe"};
  for (size_t index = 0; index < sizeof local / sizeof *local; index++)
    if (begins_with(name, local[index])) return true;
  for (size_t index = 0; index < sizeof waiting / sizeof *waiting; index++)
    if (begins_with(name, waiting[index])) return false;
  return name[0] == 'I';
}

void contend_watch(void) {
  static int watching;
  if (__atomic_exchange_n(&watching, 1, __ATOMIC_ACQ_REL)) return;
  for (int index = 0; index < CONTEND_ROUTINE_COUNT; index++)
    if (!is_local(names[index])) contend_lead((enum contend_routine)index, true);
}
