#pragma once

#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// How a walk through the forwarding tables ended.
enum class TraceEnd : std::uint8_t {
  delivered,   ///< at the host that has the address
  no_entry,    ///< a switch has no port for the address
  dead_end,    ///< a switch sends it to a port with nothing plugged in, or to itself
  wrong_host,  ///< it left the network at another host
  loop         ///< it visited more switches than there are
};

struct Trace {
  TraceEnd end;
  SwitchId last;  ///< the switch where the walk ended
};

/// Walks from a switch to a host's address, appending the channels between switches to `route`
/// (which is cleared first). Cost: one table entry per hop.
Trace trace(const Fabric& fabric, const TableView& tables, SwitchId from, HostId to,
            Address address, std::vector<ChannelId>& route);

}  // namespace contend
