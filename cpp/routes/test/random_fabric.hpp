#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/tables.hpp"
#include "in_order.hpp"

namespace contend::test {

/// A connected fabric cabled at random, parallel cables included, whose tables lead to every
/// address of every host along a random tree, so that routes are long and have no pattern.
struct RandomFabric {
  Fabric fabric;
  std::vector<Address> first;
  std::vector<std::uint8_t> lmc;
  std::size_t width;
  std::vector<PortNumber> ports;

  TableView tables() const { return {ports.data(), fabric.switches(), width}; }
  AddressView addresses() const { return {first, lmc}; }
  std::unique_ptr<Resolver> tabled(const Places& places) const {
    return make_tabled_resolver(fabric, tables(), addresses(), places);
  }
  std::unique_ptr<Resolver> walking(const Places& places) const {
    return make_walking_resolver(fabric, tables(), addresses(), places);
  }
};

namespace random_fabric {

/// A permutation of 0 .. n - 1, and numbers below n, in the same way on every machine.
inline std::uint32_t below(std::uint32_t n, std::mt19937& engine) {
  return static_cast<std::uint32_t>(engine() % n);
}

inline Fabric cable(SwitchId switches, HostId hosts, std::uint32_t extra, std::mt19937& engine) {
  std::vector<PortNumber> used(switches, 0);
  std::vector<Cable> cables;
  const auto connect = [&](SwitchId a, SwitchId b) {
    cables.push_back({a, ++used[a], b, ++used[b]});
  };
  for (SwitchId s = 1; s < switches; ++s) connect(s, below(s, engine));
  for (std::uint32_t k = 0; k < extra && switches > 1; ++k) {
    const SwitchId a = below(switches, engine);
    const SwitchId b = below(switches - 1, engine);
    connect(a, b < a ? b : b + 1);
  }
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  for (HostId h = 0; h < hosts; ++h) {
    host_switch.push_back(below(switches, engine));
    host_port.push_back(++used[host_switch.back()]);
  }
  return {host_switch, host_port, used, cables};
}

/// Ports along a random tree towards a switch: switches join it in random order by random cables.
inline void route(RandomFabric& made, HostId to, Address address, std::mt19937& engine) {
  const Fabric& fabric = made.fabric;
  std::vector<bool> joined(fabric.switches(), false);
  joined[fabric.host_switch(to)] = true;
  made.ports[fabric.host_switch(to) * made.width + address] = fabric.host_port(to);
  for (std::size_t left = fabric.switches() - 1; left > 0; --left) {
    std::vector<ChannelId> inward;
    for (ChannelId c = 0; c < fabric.switch_channels(); ++c) {
      if (!joined[fabric.channel_from(c)] && joined[fabric.channel_to(c)]) inward.push_back(c);
    }
    const ChannelId chosen = inward[below(static_cast<std::uint32_t>(inward.size()), engine)];
    joined[fabric.channel_from(chosen)] = true;
    made.ports[fabric.channel_from(chosen) * made.width + address] =
        fabric.channel_from_port(chosen);
  }
}

}  // namespace random_fabric

/// `largest_lmc`: hosts have up to 2^largest_lmc addresses.
inline RandomFabric make_random_fabric(std::uint32_t seed, SwitchId switches, HostId hosts,
                                       std::uint32_t extra_cables, std::uint32_t largest_lmc = 0) {
  std::mt19937 engine(seed);
  RandomFabric made{random_fabric::cable(switches, hosts, extra_cables, engine), {}, {}, 0, {}};
  Address next = 1;
  for (HostId h = 0; h < hosts; ++h) {
    made.first.push_back(next);
    made.lmc.push_back(static_cast<std::uint8_t>(random_fabric::below(largest_lmc + 1, engine)));
    next += 1U << made.lmc.back();
  }
  made.width = next;
  made.ports.assign(switches * made.width, kNoPort);
  for (HostId h = 0; h < hosts; ++h) {
    for (Address k = 0; k < 1U << made.lmc[h]; ++k) {
      random_fabric::route(made, h, made.first[h] + k, engine);
    }
  }
  return made;
}

/// The first `count` of the hosts in random order.
inline std::vector<HostId> some_hosts(std::uint32_t seed, const Fabric& fabric, std::size_t count) {
  std::vector<HostId> hosts = in_order(fabric.hosts());
  std::mt19937 engine(seed);
  for (std::uint32_t left = static_cast<std::uint32_t>(hosts.size()); left > 1; --left) {
    std::swap(hosts[left - 1], hosts[random_fabric::below(left, engine)]);
  }
  hosts.resize(count);
  return hosts;
}

}  // namespace contend::test
