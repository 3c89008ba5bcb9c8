#include "contend/schedule/phases_by_routes.hpp"

#include <exception>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/progress.hpp"
#include "schedules/phases_by_routes.h"

namespace contend {

namespace {

/// Checks what was given; O(channels of all routes).
void check(const HostRoutes& routes, const std::vector<std::uint32_t>& host_of_rank) {
  const std::size_t hosts = routes.hosts;
  const auto refuse = [](const std::string& what, std::uint64_t expected, std::uint64_t got) {
    throw Error("phases by routes: expected " + what + " " + std::to_string(expected) + ", got " +
                std::to_string(got));
  };
  if (host_of_rank.size() > CONTEND_MOST_PHASED_RANKS) {
    refuse("ranks up to", CONTEND_MOST_PHASED_RANKS, host_of_rank.size());
  }
  if (routes.begin.size() != hosts * hosts + 1) {
    refuse("beginnings of routes:", hosts * hosts + 1, routes.begin.size());
  }
  for (const std::uint32_t host : host_of_rank) {
    if (host >= hosts) refuse("hosts below", hosts, host);
  }
  for (std::size_t pair = 0; pair < hosts * hosts; ++pair) {
    if (routes.begin[pair] > routes.begin[pair + 1]) {
      refuse("a route that ends at or after", routes.begin[pair], routes.begin[pair + 1]);
    }
  }
  if (routes.begin.front() != 0 || routes.begin.back() != routes.channel.size()) {
    refuse("routes that end at", routes.channel.size(), routes.begin.back());
  }
  for (const std::uint32_t channel : routes.channel) {
    if (channel >= routes.channels) refuse("channels below", routes.channels, channel);
  }
}

/// Whether the search goes on; no exception may cross its C code.
bool goes_on(void* interruption) {
  try {
    check_interruption();
    return true;
  } catch (...) {
    *static_cast<std::exception_ptr*>(interruption) = std::current_exception();
    return false;
  }
}

}  // namespace

Phases phases_by_routes(const HostRoutes& routes, const std::vector<std::uint32_t>& host_of_rank) {
  check(routes, host_of_rank);
  const contend_host_routes given{routes.hosts, routes.channels, routes.begin.data(),
                                  routes.channel.data()};
  std::exception_ptr interruption;
  const contend_phase_limits limits{std::numeric_limits<std::uint64_t>::max(), goes_on,
                                    &interruption};
  contend_phases found;
  const auto end = contend_find_phases(
      &given, host_of_rank.data(), static_cast<std::uint32_t>(host_of_rank.size()), limits, &found);
  if (interruption) std::rethrow_exception(interruption);
  if (end != CONTEND_PHASES_FOUND) throw std::bad_alloc();
  const std::size_t numbers = std::size_t{found.ranks} * found.count;
  Phases phases{found.ranks,
                found.count,
                found.bound,
                {found.to, found.to + numbers},
                {found.from, found.from + numbers}};
  contend_free_phases(&found);
  return phases;
}

HostRoutes host_routes(const Resolver& resolver) {
  const auto places = static_cast<Place>(resolver.places());
  const std::size_t stride = resolver.stride();
  HostRoutes routes;
  routes.hosts = places;
  routes.channels = static_cast<std::uint32_t>(resolver.switch_channels());
  routes.begin.reserve(std::size_t{places} * places + 1);
  routes.begin.push_back(0);
  std::vector<Place> sources, targets;
  std::vector<std::uint32_t> channels(std::size_t{places} * stride);
  for (const Place source : InParts(places)) {
    sources.clear();
    targets.clear();
    for (Place target = 0; target < places; ++target) {
      if (target == source) continue;
      sources.push_back(source);
      targets.push_back(target);
    }
    resolver.resolve(sources, targets, channels.data());
    const std::uint32_t* next = channels.data();
    for (Place target = 0; target < places; ++target) {
      if (target != source) {
        for (const std::uint32_t channel : std::span(next, stride)) {
          if (channel < routes.channels) routes.channel.push_back(channel);
        }
        next += stride;
      }
      routes.begin.push_back(routes.channel.size());
    }
  }
  return routes;
}

Phases phases_by_routes(const Resolver& resolver, std::span<const std::uint32_t> place_of_rank) {
  return phases_by_routes(host_routes(resolver), {place_of_rank.begin(), place_of_rank.end()});
}

}  // namespace contend
