#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// Shortest ways to every stop, and to every switch with hosts that take part.
struct StopWays {
  std::vector<SwitchId> leaves;  ///< switches with hosts that take part, ascending
  /// Rows of stops come first.
  std::size_t stops = 0;
  WaysToSome ways;
  std::vector<std::uint32_t> leaf_of_row;  ///< the number of the leaf that it ends at; or none
};

/// `group` and `rest` as below. Throws UnreachableError when no way joins two of the hosts.
StopWays find_stop_ways(const Fabric& fabric, const Places& places,
                        std::span<const std::uint32_t> group, const Remains* rest = nullptr);

/// Valiant's algorithm: each packet goes to a stop first that is drawn at random, all of them
/// alike, and from there to its target. Stops are the switches with hosts; or, where `group` has
/// that of every switch, from 0, groups, whichever switch of them is nearest, and ways are short
/// then that cross few cables between groups, see Measure. (L. Valiant, A scheme for fast parallel
/// communication, SIAM Journal on Computing, 1982.) On each half a packet takes any shortest way,
/// as make_sprayed_resolver() has it; messages within a switch stay there. Cost of a look at all
/// messages of a round: every switch, once for each stop and each switch that receives any. Where
/// `rest` is given: on what is left of the fabric. Throws UnreachableError when no way joins two of
/// the hosts.
std::unique_ptr<Resolver> make_valiant_resolver(const Fabric& fabric, const Places& places,
                                                std::span<const std::uint32_t> group,
                                                const Remains* rest = nullptr);

/// Universal globally-adaptive load balancing (UGAL): each packet straight, or around by a stop,
/// whichever takes less by the queues and the hops on the way, where all queues are known (UGAL-G).
/// Messages of a round split as UgalSplit says, so that how one does depends on all. (A. Singh,
/// Load-balanced routing in interconnection networks, Stanford, 2005; J. Kim, W. Dally, S. Scott,
/// D. Abts, ISCA 2008.) `seconds` that a message takes on each channel between switches, 1 being
/// what it takes on a host's port. Cost of a look at all messages of a round: some hundred times
/// that of make_valiant_resolver().
std::unique_ptr<Resolver> make_ugal_resolver(const Fabric& fabric, const Places& places,
                                             std::span<const std::uint32_t> group,
                                             std::vector<double> seconds,
                                             const Remains* rest = nullptr);

}  // namespace contend
