#pragma once

#include <vector>

#include "contend/routes/engines/engines.hpp"
#include "in_order.hpp"

namespace contend::test {

/// A fabric with what engines need to know of it: hosts have the addresses 1 .. hosts, switches
/// those that follow, and GUIDs in the order of their numbers.
struct Paper {
  Fabric fabric;
  std::vector<Address> host_address;
  std::vector<std::uint8_t> host_lmc;
  std::vector<Address> switch_address;
  std::vector<std::uint64_t> guid;

  Paper(std::vector<SwitchId> host_switch, std::vector<PortNumber> host_port,
        std::vector<PortNumber> switch_ports, const std::vector<Cable>& cables)
      : fabric(host_switch, host_port, switch_ports, cables),
        host_address(in_order(host_switch.size(), 1)),
        host_lmc(host_switch.size(), 0),
        switch_address(in_order(switch_ports.size(), static_cast<Address>(host_switch.size() + 1))),
        guid(switch_ports.size()) {
    // The first byte is the one that tells most, see least_loaded.
    for (std::size_t s = 0; s < guid.size(); ++s) guid[s] = (s + 1) << 56;
  }

  Targets targets() const {
    Address last = 0;
    for (std::size_t h = 0; h < host_address.size(); ++h) {
      last = std::max(last, host_address[h] + (1U << host_lmc[h]) - 1);
    }
    for (const Address address : switch_address) last = std::max(last, address);
    return {{host_address, host_lmc}, switch_address, guid, guid, last + 1U};
  }

  PortNumber port(const Tables& tables, SwitchId s, Address address) const {
    return tables[s * targets().addresses + address];
  }
};

/// The 16-node figure: four leaves with hosts on ports 1-4 and uplinks on 5-8, the first two to
/// switch 4, the others to switch 5.
inline Paper figure() {
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  std::vector<Cable> cables;
  for (SwitchId leaf = 0; leaf < 4; ++leaf) {
    for (PortNumber k = 0; k < 4; ++k) {
      host_switch.push_back(leaf);
      host_port.push_back(static_cast<PortNumber>(k + 1));
      cables.push_back({leaf, static_cast<PortNumber>(k + 5), 4U + k / 2U,
                        static_cast<PortNumber>(2 * leaf + k % 2U + 1)});
    }
  }
  return {host_switch, host_port, std::vector<PortNumber>(6, 8), cables};
}

/// Switches in a ring, one host each on port 1, the next switch on port 2, the one before on 3.
inline Paper ring(SwitchId switches) {
  std::vector<Cable> cables;
  for (SwitchId s = 0; s < switches; ++s) cables.push_back({s, 2, (s + 1) % switches, 3});
  return {in_order(switches), std::vector<PortNumber>(switches, 1),
          std::vector<PortNumber>(switches, 3), cables};
}

}  // namespace contend::test
