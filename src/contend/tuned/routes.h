/// Routes between some hosts of a fabric, from the file that contend wrote of it.
#ifndef CONTEND_TUNED_ROUTES_H
#define CONTEND_TUNED_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

/// What `contend_host_routes` is made of; to be freed whatever came of it.
typedef struct {
  uint32_t hosts, channels;
  uint64_t* begin;
  uint32_t* channel;
} contend_routes;

enum contend_routing {
  CONTEND_ROUTES_READ,
  CONTEND_ROUTES_UNREADABLE,  ///< no such file, or not what it should be
  CONTEND_UNKNOWN_HOST,
  CONTEND_NO_ROUTE,
  CONTEND_ROUTES_TOO_LARGE
};

/// Reads the routes between hosts by their names, and numbers the hosts in the order of the file:
/// `place` gets the number of each name. `unknown` is the index of the first name that the file
/// does not have, or several times. O(file + hosts^2 * length of a route).
enum contend_routing contend_read_routes(const char* path, const char* const* names, uint32_t count,
                                         contend_routes* made, uint32_t* place, uint32_t* unknown);
void contend_free_routes(contend_routes* routes);

#endif
