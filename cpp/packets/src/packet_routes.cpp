#include "contend/packets/packet_routes.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/congestion/crossings.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

void check_size(const PacketRoutes& routes) {
  if (std::max(routes.channel.size(), routes.then.size()) >= kNone) {
    throw Error("fewer than 2^32 channels on all routes together");
  }
}

/// Adds steps for messages one by one.
class Steps {
 public:
  Steps(std::size_t between, std::size_t places) {
    routes.channels = between + 2 * places;
    routes.places = places;
    routes.first.push_back(0);
  }

  std::uint32_t add(std::size_t message, std::size_t channel) {
    routes.channel.push_back(static_cast<std::uint32_t>(channel));
    routes.message.push_back(static_cast<std::uint32_t>(message));
    return static_cast<std::uint32_t>(routes.channel.size() - 1);
  }
  std::uint32_t in(std::size_t message, Place source, std::size_t lane) {
    return add(message, routes.channels * (lane + 1) - 2 * routes.places + source);
  }
  std::uint32_t out(std::size_t message, Place target) {
    return add(message, routes.channels - routes.places + target);
  }
  void end() {
    check_size(routes);
    routes.first.push_back(static_cast<std::uint32_t>(routes.channel.size()));
  }

  PacketRoutes routes;
};

}  // namespace

PacketRoutes packet_routes(const Resolver& resolver, std::span<const Place> source,
                           std::span<const Place> target, std::uint64_t draw,
                           std::span<const std::uint8_t> lane) {
  check_messages(resolver, source, target);
  if (!lane.empty() && lane.size() != source.size()) throw Error("a lane for every message");
  const std::size_t between = resolver.switch_channels();
  Steps steps(between, resolver.places());
  PacketRoutes& routes = steps.routes;
  if (!lane.empty()) routes.lanes = *std::max_element(lane.begin(), lane.end()) + 1U;
  const std::size_t flows = resolver.unit();
  const std::size_t length = resolver.stride() / flows;
  if (flows > 1) {
    routes.rule = Choice::kInTurn;
    routes.first_choice.push_back(0);
  }
  constexpr std::size_t kAtOnce = 1024;
  std::vector<std::uint32_t> ways(kAtOnce * resolver.stride());
  for (std::size_t begin = 0; begin < source.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, source.size() - begin);
    std::vector<Place> from, to;
    for (std::size_t m = begin; m < begin + count; ++m) {
      if (source[m] == target[m]) continue;
      from.push_back(source[m]);
      to.push_back(target[m]);
    }
    resolve_many(resolver, from, to, draw, ways.data());
    const std::uint32_t* way = ways.data();
    for (std::size_t m = begin; m < begin + count; ++m) {
      if (source[m] != target[m]) {
        const std::size_t on = lane.empty() ? 0 : lane[m];
        const std::uint32_t in = steps.in(m, source[m], on);
        for (std::size_t flow = 0; flow < flows; ++flow) {
          if (flows > 1) routes.then.push_back(static_cast<std::uint32_t>(routes.channel.size()));
          for (std::size_t k = 0; k < length; ++k, ++way) {
            if (*way < between) steps.add(m, *way + on * routes.channels);
          }
          steps.out(m, target[m]);
        }
        // Behind the host's channel the flows part.
        if (flows > 1) {
          routes.first_choice.push_back(static_cast<std::uint32_t>(routes.then.size()));
          for (std::uint32_t step = in + 1; step < routes.channel.size(); ++step) {
            if (!routes.ends(step)) routes.then.push_back(step + 1);
            routes.first_choice.push_back(static_cast<std::uint32_t>(routes.then.size()));
          }
        }
      }
      steps.end();
    }
  }
  return std::move(routes);
}

PacketRoutes packet_routes(std::shared_ptr<const Detours> detours, std::span<const Place> source,
                           std::span<const Place> target) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  const std::size_t places = detours->places();
  Steps steps(detours->switch_channels(), places);
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (std::max(source[m], target[m]) >= places) throw Error("places of the detours");
    if (source[m] != target[m]) {
      steps.in(m, source[m], 0);
      steps.out(m, target[m]);
    }
    steps.end();
  }
  steps.routes.lanes = detours->lanes();
  steps.routes.detours = std::move(detours);
  return std::move(steps.routes);
}

PacketRoutes packet_routes(const Fabric& fabric, const NextHops& next, const Places& places,
                           std::span<const Place> source, std::span<const Place> target,
                           Choice rule, const HashedEntries* hashed) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  const std::size_t among = places.hosts.size();
  const auto between = static_cast<std::uint32_t>(fabric.switch_channels());
  Steps steps(between, among);
  PacketRoutes& routes = steps.routes;
  routes.rule = rule;
  routes.first_choice.push_back(0);
  const Hashes hashes(hashed == nullptr ? 0 : hashed->draw, false);
  const auto by_hash = [&](SwitchId at, HostId host) {
    if (hashed == nullptr || hashed->address[host] >= hashed->addresses) return false;
    const std::size_t entry = at * hashed->addresses + hashed->address[host];
    return hashed->hashed[hashed->group_of_entry[entry]] != 0;
  };
  std::vector<std::uint32_t> step_of(routes.channels, kNone);
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (std::max(source[m], target[m]) >= among) {
      throw Error("places below " + std::to_string(among) + ", got message " +
                  std::to_string(source[m]) + " -> " + std::to_string(target[m]));
    }
    if (m % 256 == 0) check_interruption();
    const auto begin = static_cast<std::uint32_t>(routes.channel.size());
    const auto step_on = [&](std::uint32_t channel) {
      if (step_of[channel] == kNone) step_of[channel] = steps.add(m, channel);
      return step_of[channel];
    };
    if (source[m] != target[m]) {
      const std::uint32_t row = next.row_of[target[m]];
      const HostId host = places.hosts[target[m]];
      const SwitchId end = fabric.host_switch(host);
      const std::uint64_t flow = hashes.of_flow(places.hosts[source[m]], host, 0);
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
            std::span<const ChannelId> among_these = next.of_set(set);
            if (among_these.size() > 1 && by_hash(at, host)) {
              among_these = among_these.subspan(hashes.choose(flow, at, among_these.size()), 1);
            }
            for (const ChannelId further : among_these) routes.then.push_back(step_on(further));
          }
        }
        routes.first_choice.push_back(static_cast<std::uint32_t>(routes.then.size()));
      }
      for (std::size_t step = begin; step < routes.channel.size(); ++step) {
        step_of[routes.channel[step]] = kNone;
      }
    }
    steps.end();
  }
  return std::move(routes);
}

}  // namespace contend
