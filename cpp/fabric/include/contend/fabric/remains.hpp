#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"

namespace contend {

/// Switches and cables that die together, by number.
struct Losses {
  std::vector<SwitchId> switches;
  std::vector<std::uint32_t> cables;
};

/// What is left of a fabric where switches and cables die; ids stay those of the whole fabric.
struct Remains {
  /// Everything lives.
  explicit Remains(const Fabric& whole)
      : switch_died(whole.switches(), 0),
        channel_died(whole.switch_channels(), 0),
        host_gone(whole.hosts(), 0),
        hosts_left(whole.hosts()) {}

  /// Without what died; of the hosts that live only those of the connected part with most of them
  /// are left, of parts with as many that of the lowest switch. Throws Error when a number is none
  /// of the fabric's. Cost: linear in ports.
  Remains(const Fabric& whole, const Losses& losses);

  std::vector<std::uint8_t> switch_died;
  std::vector<std::uint8_t> channel_died;  ///< between switches, by its cable or a switch
  std::vector<std::uint8_t> host_gone;     ///< with its switch, or cut off from most others
  std::size_t hosts_left;
};

}  // namespace contend
