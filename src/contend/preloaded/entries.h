/// Where calls of MPI come in, of a library that is preloaded into any program: the recorder, or
/// the drop-in all-to-all.
///
/// `entries.c` has MPI_X and PMPI_X of each routine of `routines.h`. They jump to the library's
/// own, or to a function `contend_X` of whoever is compiled with it, which has one for each
/// routine. To begin with, only those of MPI_Init, MPI_Init_thread and MPI_Session_init are called.
#ifndef CONTEND_PRELOADED_ENTRIES_H
#define CONTEND_PRELOADED_ENTRIES_H

#include <mpi.h>
#include <stdbool.h>

/// Declares a variable of this library, which no other one can have taken the place of: it is read
/// where it lies, and not by way of a table.
#define CONTEND_OWN extern __attribute__((visibility("hidden")))

// Open MPI 5 has some of MPI 4, but still calls itself 3.1.
#define CONTEND_BIG_COUNTS (MPI_VERSION >= 4)
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define CONTEND_MPI_4 1
#else
#define CONTEND_MPI_4 (MPI_VERSION >= 4)
#endif

// Open MPI's handles are addresses of its variables. They are looked up when MPI begins, as what is
// preloaded is not linked with any MPI library: shells and launchers load it too.
#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)contend_handles.global)
#define CONTEND_HANDLES(X)  \
  X(ompi_mpi_comm_world)    \
  X(ompi_mpi_comm_self)     \
  X(ompi_mpi_comm_null)     \
  X(ompi_mpi_group_null)    \
  X(ompi_mpi_win_null)      \
  X(ompi_mpi_datatype_null) \
  X(ompi_mpi_byte)          \
  X(ompi_mpi_packed)        \
  X(ompi_mpi_int)           \
  X(ompi_mpi_unsigned_long) \
  X(ompi_mpi_char)          \
  X(ompi_mpi_unsigned)      \
  X(ompi_mpi_long)          \
  X(ompi_mpi_float)         \
  X(ompi_mpi_double)        \
  X(ompi_mpi_int64_t)       \
  X(ompi_mpi_uint64_t)      \
  X(ompi_mpi_integer)       \
  X(ompi_mpi_real)          \
  X(ompi_mpi_dblprec)       \
  X(ompi_mpi_op_no_op)      \
  X(ompi_mpi_op_sum)        \
  X(ompi_mpi_op_max)        \
  X(ompi_mpi_op_min)        \
  X(ompi_mpi_op_prod)       \
  X(ompi_mpi_op_land)       \
  X(ompi_mpi_op_band)       \
  X(ompi_mpi_op_lor)        \
  X(ompi_mpi_op_bor)        \
  X(ompi_mpi_op_lxor)       \
  X(ompi_mpi_op_bxor)       \
  X(ompi_mpi_op_maxloc)     \
  X(ompi_mpi_op_minloc)     \
  X(ompi_mpi_op_replace)    \
  X(ompi_request_null)      \
  X(ompi_message_no_proc)   \
  X(ompi_mpi_errors_return)
CONTEND_OWN struct contend_handles {
#define X(name) void* name;
  CONTEND_HANDLES(X)
#undef X
} contend_handles;
#endif

enum contend_routine {
#define ROUTINE(name, arguments) contend_routine_##name,
#include "routines.h"
  CONTEND_ROUTINE_COUNT
};

/// The library's own routines.
CONTEND_OWN void* contend_real[CONTEND_ROUTINE_COUNT];
#define REAL(name) CONTEND_REAL(name)
#define CONTEND_REAL(name) ((__typeof__(&MPI_##name))contend_real[contend_routine_##name])
#define CONTEND_LIKELY(condition) __builtin_expect(!!(condition), 1)

// So many parameters and arguments that pass on whatever they are.
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

/// Leads the entry of a routine to our function, or to the library's.
void contend_lead(enum contend_routine routine, bool wanted);
/// Leads all entries to our functions, or to the library's.
void contend_lead_all(bool wanted);
/// Address of something else in the library; NULL where it has no such thing.
void* contend_symbol(const char* name);

/// Is called, not defined, by `entries.c`: the program has loaded a library that this was not
/// compiled for, the file `path`. Its calls all go there.
void contend_other_library(const char* path);

#endif
