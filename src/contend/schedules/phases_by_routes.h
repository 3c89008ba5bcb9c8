/// Phases of an all-to-all that know the routes: no two messages of a phase share a channel.
///
/// In C and by itself, so that the core and the drop-in all-to-all have the same search.
#ifndef CONTEND_SCHEDULES_PHASES_BY_ROUTES_H
#define CONTEND_SCHEDULES_PHASES_BY_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// More ranks than this have more messages than fit a number.
#define CONTEND_MOST_PHASED_RANKS 65535

/// The channels that routes between hosts cross, in a compressed array. Channels that belong to one
/// host alone, its injection and its ejection port, are left out: they are known.
typedef struct {
  uint32_t hosts;
  uint32_t channels;  ///< numbered from 0, in any way
  /// Where the route of each ordered pair of hosts begins in `channel`, that from host s to host t
  /// at s * hosts + t, and the end; hosts * hosts + 1 numbers. Routes from a host to itself are not
  /// looked at.
  const uint64_t* begin;
  const uint32_t* channel;
} contend_host_routes;

/// An all-to-all in phases. Every rank sends to every other rank once. In a phase
/// - a rank sends to one other rank at most, and receives from one at most;
/// - no channel carries two messages, ports of hosts included; ranks of one host use no channel to
///   reach each other;
/// - no two ranks send to each other: one connection would carry both ways, each at half its rate.
typedef struct {
  uint32_t ranks, count;
  /// No schedule of that kind can have fewer phases than this: ranks - 1, or the messages of the
  /// fullest channel where these are more; 2 and 4 for two and four ranks, which the ban on both
  /// ways costs one more.
  uint32_t bound;
  int32_t* to;    ///< whom a rank sends to in a phase, at rank * count + phase; -1 for none
  int32_t* from;  ///< whom it receives from, likewise
} contend_phases;

/// What a search may take.
typedef struct {
  uint64_t bytes;               ///< of memory, what is found included
  bool (*goes_on)(void* data);  ///< asked now and then, false ends the search; NULL: to the end
  void* data;
} contend_phase_limits;

enum contend_phases_end {
  CONTEND_PHASES_FOUND,
  CONTEND_PHASES_STOPPED,  ///< `goes_on` said so
  CONTEND_PHASES_TOO_LARGE
};

/// Phases for ranks on hosts: the same for the same input, on any machine. `found` is to be freed
/// where the end is CONTEND_PHASES_FOUND. What is given is not checked.
enum contend_phases_end contend_find_phases(const contend_host_routes* routes,
                                            const uint32_t* host_of_rank, uint32_t ranks,
                                            contend_phase_limits limits, contend_phases* found);
void contend_free_phases(contend_phases* phases);

#ifdef __cplusplus
}
#endif

#endif
