/* phases_of ROUTES RANKS-PER-HOST HOST...: phases for ranks on these hosts, as the drop-in library
 * finds them: a line for every phase, the rank that each rank sends to or -1. */
#include <stdio.h>
#include <stdlib.h>

#include "phases_by_routes.h"
#include "routes.h"

int main(int count, char** words) {
  uint32_t each = (uint32_t)atoi(words[2]), hosts = (uint32_t)count - 3, unknown = 0;
  uint32_t* place = malloc(hosts * sizeof *place);
  uint32_t* place_of_rank = malloc(hosts * each * sizeof *place_of_rank);
  contend_routes routes;
  contend_phases phases;
  const char* const* names = (const char* const*)words + 3;
  int read = contend_read_routes(words[1], names, hosts, &routes, place, &unknown);
  if (read != CONTEND_ROUTES_READ) {
    printf("%d %u\n", read, unknown);
    contend_free_routes(&routes);
    free(place);
    free(place_of_rank);
    return 1;
  }
  for (uint32_t rank = 0; rank < hosts * each; rank++) place_of_rank[rank] = place[rank / each];
  contend_host_routes given = {routes.hosts, routes.channels, routes.begin, routes.channel};
  contend_phase_limits limits = {UINT64_MAX, NULL, NULL};
  contend_find_phases(&given, place_of_rank, hosts * each, limits, &phases);
  for (uint32_t phase = 0; phase < phases.count; phase++)
    for (uint32_t rank = 0; rank < phases.ranks; rank++)
      printf("%d%c", phases.to[rank * phases.count + phase], rank + 1 < phases.ranks ? ' ' : '\n');
  contend_free_phases(&phases);
  contend_free_routes(&routes);
  free(place);
  free(place_of_rank);
  return 0;
}
