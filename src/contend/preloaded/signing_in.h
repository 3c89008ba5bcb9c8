/// Whether all ranks have the same library of contend's, found out when MPI begins.
#ifndef CONTEND_PRELOADED_SIGNING_IN_H
#define CONTEND_PRELOADED_SIGNING_IN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What ranks sign in to.
typedef struct {
  const char* folder;       ///< that all hosts see
  const char* library;      ///< what this is, for people
  const char* agreement;    ///< what ranks must have in common, for people
  uint64_t hash;            ///< of it
  const char* consequence;  ///< what follows where ranks differ, for people
} contend_guest;

/// Gets ready to sign in, as one of so many ranks; asks nothing of MPI or of other ranks.
void contend_get_ready_to_sign_in(const contend_guest* guest, int rank, int size);
/// Whether all ranks have signed in, and agree; all of them get the same answer. Where they have
/// not, one of them says who has not, and why, in one line. They are all together, in the order of
/// their ranks on a communicator that nobody uses yet; `name` tells it from others, or is NULL.
bool contend_sign_in(MPI_Comm all, const char* name);
/// Which ranks have begun together: what their launcher calls them all, a space, and the word of
/// their rank 0, which is "" on a rank that has not seen it.
void contend_write_launch(char* text, size_t room);

#endif
