#include "contend/packets/packet_routes.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

void check_size(const PacketRoutes& routes) {
  if (std::max(routes.channel.size(), routes.then.size()) >= kNone) {
    throw Error("fewer than 2^32 channels on all routes together");
  }
}

}  // namespace

PacketRoutes packet_routes(const Resolver& resolver, std::span<const Place> source,
                           std::span<const Place> target, std::uint64_t draw) {
  const Crossings crossings(resolver, source, target, false, draw);
  PacketRoutes routes;
  routes.channels = crossings.channels();
  routes.places = resolver.places();
  routes.first.push_back(0);
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    const auto crossed = crossings.of_message(m);
    routes.channel.insert(routes.channel.end(), crossed.begin(), crossed.end());
    routes.message.resize(routes.channel.size(), static_cast<std::uint32_t>(m));
    check_size(routes);
    routes.first.push_back(static_cast<std::uint32_t>(routes.channel.size()));
  }
  return routes;
}

PacketRoutes packet_routes(const Fabric& fabric, const NextHops& next, const Places& places,
                           std::span<const Place> source, std::span<const Place> target) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  const std::size_t among = places.hosts.size();
  const auto between = static_cast<std::uint32_t>(fabric.switch_channels());
  PacketRoutes routes;
  routes.channels = between + 2 * among;
  routes.places = among;
  routes.first.push_back(0);
  routes.first_choice.push_back(0);
  std::vector<std::uint32_t> step_of(routes.channels, kNone);
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (std::max(source[m], target[m]) >= among) {
      throw Error("places below " + std::to_string(among) + ", got message " +
                  std::to_string(source[m]) + " -> " + std::to_string(target[m]));
    }
    if (m % 256 == 0) check_interruption();
    const auto message = static_cast<std::uint32_t>(m);
    const auto begin = static_cast<std::uint32_t>(routes.channel.size());
    const auto step_on = [&](std::uint32_t channel) {
      if (step_of[channel] == kNone) {
        step_of[channel] = static_cast<std::uint32_t>(routes.channel.size());
        routes.channel.push_back(channel);
        routes.message.push_back(message);
      }
      return step_of[channel];
    };
    if (source[m] != target[m]) {
      const std::uint32_t row = next.row_of[target[m]];
      const SwitchId end = fabric.host_switch(places.hosts[target[m]]);
      const auto in = static_cast<std::uint32_t>(between + source[m]);
      const auto out = static_cast<std::uint32_t>(between + among + target[m]);
      step_on(in);
      // Steps are added behind the one that is looked at.
      for (std::uint32_t step = begin; step < routes.channel.size(); ++step) {
        const std::uint32_t channel = routes.channel[step];
        if (channel != out) {
          const SwitchId at = channel == in ? fabric.host_switch(places.hosts[source[m]])
                                            : fabric.channel_to(channel);
          if (at == end) {
            routes.then.push_back(step_on(out));
          } else {
            const std::uint32_t set = next.set_of[row * next.switches() + at];
            for (const ChannelId further : next.of_set(set)) {
              routes.then.push_back(step_on(further));
            }
          }
        }
        routes.first_choice.push_back(static_cast<std::uint32_t>(routes.then.size()));
      }
      for (std::size_t step = begin; step < routes.channel.size(); ++step) {
        step_of[routes.channel[step]] = kNone;
      }
    }
    check_size(routes);
    routes.first.push_back(static_cast<std::uint32_t>(routes.channel.size()));
  }
  return routes;
}

}  // namespace contend
