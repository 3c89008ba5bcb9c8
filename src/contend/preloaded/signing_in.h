/// Whether all ranks have the same library of contend's, found out when MPI begins.
#ifndef CONTEND_PRELOADED_SIGNING_IN_H
#define CONTEND_PRELOADED_SIGNING_IN_H

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

/// Whether all ranks of MPI_COMM_WORLD have signed in, and agree; all of them get the same answer.
/// Where they have not, one of them says who has not, and why, in one line.
bool contend_sign_in(const contend_guest* guest, int rank, int size);
/// Which ranks have begun together, after they have signed in: what their launcher calls them all,
/// a space, and the word of their rank 0, which is "" on a rank that did not see it.
void contend_write_launch(char* text, size_t room);

#endif
