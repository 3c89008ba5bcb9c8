#pragma once

#include <cstddef>
#include <span>

#include "contend/base/ids.hpp"

namespace contend {

/// Forwarding tables, borrowed: for every switch and address the port to leave by.
/// Row-major [switches][addresses]; kNoPort where a table has no entry; port 0 is the switch
/// itself.
struct TableView {
  const PortNumber* ports;
  std::size_t switches;
  std::size_t addresses;

  PortNumber at(SwitchId s, Address address) const {
    return address < addresses ? ports[s * addresses + address] : kNoPort;
  }
};

/// Addresses of hosts, borrowed: host h answers to first[h] .. first[h] + 2^lmc[h] - 1.
/// first[h] == 0 means that the host has no address.
struct AddressView {
  std::span<const Address> first;
  std::span<const std::uint8_t> lmc;
};

}  // namespace contend
