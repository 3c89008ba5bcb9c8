#pragma once

#include "contend/fabric/subnet.hpp"
#include "fuzz.hpp"

namespace contend::fuzz {

/// That columns fit together and are the same twice.
inline void check_subnet(const SubnetColumns& subnet, const SubnetColumns& again) {
  require(subnet.guid == again.guid && subnet.name == again.name && subnet.peer == again.peer);
  require(subnet.rates == again.rates && subnet.notes == again.notes);
  const std::size_t nodes = subnet.kind.size();
  require(nodes > 0 && subnet.name.size() == nodes && subnet.lid.size() == nodes);
  const std::size_t ends = subnet.node.size();
  require(subnet.peer.size() == ends && subnet.rate.size() == ends);
  for (std::size_t end = 0; end < ends; ++end) {
    require(subnet.node[end] >= 0 && static_cast<std::size_t>(subnet.node[end]) < nodes);
    require(subnet.peer[end] >= -1 && subnet.peer[end] < static_cast<std::int32_t>(nodes));
    require(subnet.port[end] >= 1 && subnet.port[end] <= kHighestPort);
    require(subnet.rate[end] < subnet.rates.size());
  }
}

}  // namespace contend::fuzz
