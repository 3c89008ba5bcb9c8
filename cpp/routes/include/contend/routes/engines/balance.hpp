#pragma once

#include <functional>
#include <span>
#include <vector>

#include "contend/routes/engines/engines.hpp"
#include "contend/routes/engines/links.hpp"

namespace contend {

/// Puts into an empty set the links by which a message to a destination switch may leave the
/// switches it can be at.
using NextLinks = std::function<void(SwitchId destination, LinkSet& next)>;
/// Makes a NextLinks with memory of its own; every thread has one.
using MakeNextLinks = std::function<NextLinks()>;

/// Which of several links an address may use.
enum class Spread : std::uint8_t {
  any,           ///< all of them
  one_neighbour  ///< those that lead where the one with the lowest port leads
};

/// Gives every switch and address the least used of the links that `next` allows.
///
/// What OpenSM does: host addresses come first, ordered by the switch they hang on (most hosts
/// first, then by GUID with its bytes reversed, which is how the x86 compares what is stored in
/// network order) and by port there. Each goes to the link given to the fewest so far, the lowest
/// port among equals. Then come the addresses of switches, which don't count. Then, with several
/// addresses to a host, one round for each further address, in which links to boxes and then
/// switches that none of the host's earlier addresses uses come first.
///
/// Deterministic whatever the number of threads. Cost: one call of `next` per destination switch
/// and round, and O(allowed links + hosts) per switch and destination switch.
Tables least_loaded(const Fabric& fabric, const SwitchLinks& links, const Targets& targets,
                    const MakeNextLinks& make_next, Spread spread);

/// The hosts that have an address, by switch and in the order of their ports.
std::vector<std::vector<HostId>> hosts_by_port(const Fabric& fabric, const Targets& targets);

/// The switches with such hosts, in the order in which least_loaded() takes them.
std::vector<SwitchId> by_hosts_and_guid(std::span<const std::vector<HostId>> hosts,
                                        const Targets& targets);

/// NextLinks of all shortest paths. Cost per destination: one breadth-first search.
MakeNextLinks shortest_paths(const SwitchLinks& links);

/// Lets every switch reach the addresses of switches by the lowest port on a shortest path.
void reach_switches(const Fabric& fabric, const SwitchLinks& links, const Targets& targets,
                    Tables& tables);

}  // namespace contend
