#include "contend/fabric/remains.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNoPart = 0xFFFFFFFF;

/// Number of the connected part of every switch, in the order of their lowest switches.
std::vector<std::uint32_t> parts_of(const Fabric& fabric, const Remains& rest) {
  std::vector<std::uint32_t> part(fabric.switches(), kNoPart);
  std::vector<SwitchId> reached;
  std::uint32_t parts = 0;
  for (SwitchId start = 0; start < fabric.switches(); ++start) {
    if (part[start] != kNoPart) continue;
    part[start] = parts;
    reached.assign(1, start);
    while (!reached.empty()) {
      const SwitchId s = reached.back();
      reached.pop_back();
      for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
        const ChannelId channel = fabric.out(s, port);
        if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
        const SwitchId next = fabric.channel_to(channel);
        if (rest.channel_died[channel] != 0 || part[next] != kNoPart) continue;
        part[next] = parts;
        reached.push_back(next);
      }
    }
    ++parts;
  }
  return part;
}

}  // namespace

Remains::Remains(const Fabric& whole, const Losses& losses) : Remains(whole) {
  for (const SwitchId s : losses.switches) {
    if (s >= whole.switches()) throw Error("no switch " + std::to_string(s) + " in the fabric");
    switch_died[s] = 1;
  }
  for (const std::uint32_t cable : losses.cables) {
    if (cable >= whole.cables())
      throw Error("no cable " + std::to_string(cable) + " in the fabric");
    channel_died[2 * cable] = channel_died[2 * cable + 1] = 1;
  }
  for (ChannelId c = 0; c < whole.switch_channels(); ++c) {
    if (switch_died[whole.channel_from(c)] != 0 || switch_died[whole.channel_to(c)] != 0) {
      channel_died[c] = 1;
    }
  }
  const std::vector<std::uint32_t> part = parts_of(whole, *this);
  std::vector<std::size_t> hosts_of_part(whole.switches(), 0);
  for (const SwitchId s : whole.host_switches()) {
    if (switch_died[s] == 0) ++hosts_of_part[part[s]];
  }
  const auto most = std::max_element(hosts_of_part.begin(), hosts_of_part.end());
  const auto larger = static_cast<std::uint32_t>(most - hosts_of_part.begin());
  hosts_left = most == hosts_of_part.end() ? 0 : *most;
  for (HostId host = 0; host < whole.hosts(); ++host) {
    const SwitchId s = whole.host_switch(host);
    host_gone[host] = switch_died[s] != 0 || part[s] != larger ? 1 : 0;
  }
}

}  // namespace contend
