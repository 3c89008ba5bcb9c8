/// What one message at a time may use, numbered: every rank as a source and as a target, the ports
/// of hosts with several ranks, and those channels that are not idle anyhow while a rank or a port
/// is: what all messages over a channel have in common, their source or their target, keeps them
/// apart.
#ifndef CONTEND_SCHEDULES_PHASE_RESOURCES_H
#define CONTEND_SCHEDULES_PHASE_RESOURCES_H

#include <stddef.h>
#include <string.h>

#include "phases_by_routes.h"

#define CONTEND_NONE UINT32_MAX

typedef struct {
  uint32_t ranks, hosts, count;
  uint32_t most_used;  ///< by one message
  const uint32_t* host_of_rank;
  uint32_t* ranks_on;              ///< each host
  uint32_t *injection, *ejection;  ///< of each host; CONTEND_NONE where its only rank stands for it
  uint64_t* load;                  ///< messages of each
  uint64_t* begin;                 ///< of routes, as those of hosts, over numbers of resources
  uint32_t* channel;
} contend_resources;

/// Room for so many things of some size, all bits 0, taken from what is left; NULL for none.
void* contend_take_room(uint64_t* left, uint64_t count, uint64_t size);

/// False where there is no room. O(channels of all routes).
bool contend_number_resources(contend_resources* made, const contend_host_routes* routes,
                              const uint32_t* host_of_rank, uint32_t ranks, uint64_t* left);
void contend_free_resources(contend_resources* resources);

/// Writes what a message uses, and says how much; message s * ranks + t goes from rank s to rank t.
/// O(channels of its route).
static inline uint32_t contend_find_used(const contend_resources* resources, uint32_t message,
                                         uint32_t* used) {
  uint32_t source = message / resources->ranks, target = message % resources->ranks, count = 2;
  uint32_t from = resources->host_of_rank[source], to = resources->host_of_rank[target];
  used[0] = source;
  used[1] = resources->ranks + target;
  if (from == to) return count;
  if (resources->injection[from] != CONTEND_NONE) used[count++] = resources->injection[from];
  if (resources->ejection[to] != CONTEND_NONE) used[count++] = resources->ejection[to];
  size_t pair = (size_t)from * resources->hosts + to;
  for (uint64_t at = resources->begin[pair]; at < resources->begin[pair + 1]; at++)
    used[count++] = resources->channel[at];
  return count;
}

#endif
