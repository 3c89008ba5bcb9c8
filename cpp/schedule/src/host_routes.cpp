#include "contend/schedule/host_routes.hpp"
#include "contend/base/progress.hpp"

#include <vector>

namespace contend {

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
