#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/checks/trace.hpp"
#include "contend/routes/tables.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// A place where routes to an address go wrong.
struct RouteFault {
  TraceEnd end;
  SwitchId at;    ///< where the routes end; of a loop, its switch with the lowest number
  SwitchId from;  ///< the lowest switch with hosts whose routes end there
  HostId to;
  Address address;
};

/// What following every route found. A route leads from a host to one address of another host.
struct RouteCheck {
  std::array<std::uint64_t, kTraceEnds> routes{};  ///< by how they end
  std::array<std::uint64_t, kTraceEnds> faults{};  ///< places (switch, address) where they end so
  std::vector<RouteFault> examples;                ///< the first of each kind, by address
  std::vector<std::uint64_t> hops;  ///< delivered routes by number of channels between switches
  std::vector<std::uint64_t> load;  ///< delivered routes over each channel between switches
  std::vector<std::uint32_t> addresses;  ///< addresses delivered to over each such channel
};

/// Follows the routes of all hosts to all addresses; at most `examples` faults of each kind are
/// kept. The result does not depend on the number of threads.
///
/// Algorithm: per address one tree (see InTree), into which the hosts of every switch are summed
/// from the leaves. Cost: addresses x switches. Memory: the counts, once per thread.
RouteCheck check_routes(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                        std::size_t examples);

/// What following all ways of tables with groups of ports found. A route counts as delivered when
/// all its ways arrive, by the channels of the longest; loads are rounded.
struct WaysCheck {
  explicit WaysCheck(const Fabric& fabric) : dependencies(fabric) {}

  RouteCheck routes;
  ChannelDependencies dependencies;  ///< of the ways that arrive
  /// By channel between switches: addresses for which a group has it although it leads no nearer.
  std::vector<std::uint32_t> astray;
};

/// Follows them from all switches with hosts to all addresses. Cost: what is sent alike everywhere
/// is followed once, over all channels of its ways.
WaysCheck check_ways(const Fabric& fabric, const TableView& tables, const GroupView& groups,
                     const AddressView& addresses, std::size_t examples);

}  // namespace contend
