#pragma once

#include <memory>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/tables.hpp"
#include "in_order.hpp"

namespace contend::test {

/// A ring of switches with one host each, routed clockwise only: host h (address h + 1) hangs on
/// port 1 of switch h, port 2 leads on to switch h + 1, port 3 back. Cable h leads from h to h + 1.
struct ClockwiseRing {
  explicit ClockwiseRing(SwitchId size)
      : fabric(build(size)),
        first(size),
        lmc(size, 0),
        ports(std::size_t{size} * (size + 1U), PortNumber{2}) {
    for (SwitchId s = 0; s < size; ++s) {
      first[s] = s + 1;
      port(s, s + 1) = 1;
    }
  }

  static Fabric build(SwitchId size) {
    std::vector<SwitchId> at;
    std::vector<Cable> cables;
    for (SwitchId s = 0; s < size; ++s) {
      at.push_back(s);
      cables.push_back({s, 2, (s + 1) % size, 3});
    }
    return {at, std::vector<PortNumber>(size, 1), std::vector<PortNumber>(size, 3), cables};
  }

  PortNumber& port(SwitchId s, Address address) {
    return ports[s * (fabric.switches() + 1) + address];
  }
  TableView tables() const { return {ports.data(), fabric.switches(), fabric.switches() + 1}; }
  AddressView addresses() const { return {first, lmc}; }
  std::unique_ptr<Resolver> tabled(const Places& places) const {
    return make_tabled_resolver(fabric, tables(), addresses(), places);
  }
  std::unique_ptr<Resolver> walking(const Places& places) const {
    return make_walking_resolver(fabric, tables(), addresses(), places);
  }

  Fabric fabric;
  std::vector<Address> first;
  std::vector<std::uint8_t> lmc;
  std::vector<PortNumber> ports;
};

}  // namespace contend::test
