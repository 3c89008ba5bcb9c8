#include "phase_resources.h"

#include <stdlib.h>

#define SEVERAL (CONTEND_NONE - 1)

/// A channel between switches: how many messages cross it, and the one host that all of them come
/// from or go to, if there is one.
typedef struct {
  uint64_t load;
  uint32_t source, target, number;
} channel;

void* contend_take_room(uint64_t* left, uint64_t count, uint64_t size) {
  if (count > *left / size) return NULL;
  *left -= count * size;
  return calloc(count ? count : 1, size);
}

void contend_free_resources(contend_resources* resources) {
  free(resources->ranks_on);
  free(resources->injection);
  free(resources->ejection);
  free(resources->load);
  free(resources->begin);
  free(resources->channel);
}

static uint32_t add(contend_resources* made, uint64_t load) {
  made->load[made->count] = load;
  return made->count++;
}

static void add_ranks_and_ports(contend_resources* made) {
  for (uint32_t index = 0; index < 2 * made->ranks; index++) add(made, made->ranks - 1);
  for (uint32_t host = 0; host < made->hosts; host++) {
    uint64_t here = made->ranks_on[host], load = here * (made->ranks - here);
    made->injection[host] = here > 1 ? add(made, load) : CONTEND_NONE;
    made->ejection[host] = here > 1 ? add(made, load) : CONTEND_NONE;
  }
}

static bool is_used(const contend_resources* made, uint32_t from, uint32_t to) {
  return from != to && made->ranks_on[from] && made->ranks_on[to];
}

static void note(uint32_t* seen, uint32_t host) {
  *seen = *seen == CONTEND_NONE || *seen == host ? host : SEVERAL;
}

static void look_at_channels(const contend_resources* made, const contend_host_routes* routes,
                             channel* channels) {
  for (uint32_t from = 0; from < made->hosts; from++) {
    for (uint32_t to = 0; to < made->hosts; to++) {
      size_t pair = (size_t)from * made->hosts + to;
      if (!is_used(made, from, to)) continue;
      for (uint64_t at = routes->begin[pair]; at < routes->begin[pair + 1]; at++) {
        channel* crossed = &channels[routes->channel[at]];
        crossed->load += (uint64_t)made->ranks_on[from] * made->ranks_on[to];
        note(&crossed->source, from);
        note(&crossed->target, to);
      }
    }
  }
}

static void keep_routes(contend_resources* made, const contend_host_routes* routes,
                        const channel* channels) {
  uint64_t kept = 0, longest = 0;
  for (uint32_t from = 0; from < made->hosts; from++) {
    for (uint32_t to = 0; to < made->hosts; to++) {
      size_t pair = (size_t)from * made->hosts + to;
      made->begin[pair] = kept;
      if (!is_used(made, from, to)) continue;
      for (uint64_t at = routes->begin[pair]; at < routes->begin[pair + 1]; at++) {
        uint32_t number = channels[routes->channel[at]].number;
        if (number != CONTEND_NONE) made->channel[kept++] = number;
      }
      if (kept - made->begin[pair] > longest) longest = kept - made->begin[pair];
    }
  }
  made->begin[(size_t)made->hosts * made->hosts] = kept;
  // Both ranks, and both ports.
  made->most_used = 4 + (uint32_t)longest;
}

bool contend_number_resources(contend_resources* made, const contend_host_routes* routes,
                              const uint32_t* host_of_rank, uint32_t ranks, uint64_t* left) {
  uint64_t hosts = routes->hosts, pairs = hosts * hosts;
  uint64_t most = 2 * ((uint64_t)ranks + hosts) + routes->channels;
  *made = (contend_resources){.ranks = ranks, .hosts = routes->hosts, .host_of_rank = host_of_rank};
  made->ranks_on = contend_take_room(left, hosts, sizeof *made->ranks_on);
  made->injection = contend_take_room(left, hosts, sizeof *made->injection);
  made->ejection = contend_take_room(left, hosts, sizeof *made->ejection);
  made->load = contend_take_room(left, most, sizeof *made->load);
  made->begin = contend_take_room(left, pairs + 1, sizeof *made->begin);
  made->channel = contend_take_room(left, routes->begin[pairs], sizeof *made->channel);
  channel* channels = contend_take_room(left, routes->channels, sizeof *channels);
  bool room = made->ranks_on && made->injection && made->ejection && made->load && made->begin &&
              made->channel && channels;
  if (room) {
    for (uint32_t rank = 0; rank < ranks; rank++) made->ranks_on[host_of_rank[rank]]++;
    add_ranks_and_ports(made);
    for (uint32_t index = 0; index < routes->channels; index++)
      channels[index] = (channel){0, CONTEND_NONE, CONTEND_NONE, CONTEND_NONE};
    look_at_channels(made, routes, channels);
    for (uint32_t index = 0; index < routes->channels; index++) {
      channel* crossed = &channels[index];
      if (crossed->source == SEVERAL && crossed->target == SEVERAL)
        crossed->number = add(made, crossed->load);
    }
    keep_routes(made, routes, channels);
  }
  free(channels);
  return room;
}
