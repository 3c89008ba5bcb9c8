#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// What the engines route to, borrowed.
struct Targets {
  AddressView hosts;
  std::span<const Address> switches;  ///< address of every switch; 0: none
  std::span<const std::uint64_t> switch_guid;
  std::span<const std::uint64_t> switch_system;  ///< GUID of the box that a switch belongs to
  std::size_t addresses;                         ///< size of the tables to make
  /// Addresses of other end ports, such as aggregation nodes', and where each hangs. Engines leave
  /// them out, mending does not.
  std::span<const Address> others = {};
  std::span<const SwitchId> other_switch = {};
  std::span<const PortNumber> other_port = {};
};

/// Forwarding tables as an engine makes them: row-major [switches][addresses].
using Tables = std::vector<PortNumber>;

/// Throws Error when arrays do not fit the fabric, an address is beyond `addresses` or used twice.
void check_targets(const Fabric& fabric, const Targets& targets);

/// Shortest paths, spread over the ports that lie on one by giving every address the port that the
/// fewest have been given. Identical to the engine `minhop` of OpenSM 3.3.
/// Cost: O(switches * links) for the distances, O(switches * addresses) for the tables.
Tables minhop(const Fabric& fabric, const Targets& targets);

/// As minhop, but of the ports on a shortest path only those to the neighbour that the lowest of
/// them leads to. Dimension-order routing where every dimension has its ports on all switches in
/// the same order. Identical to the engine `dor` of OpenSM 3.3.
Tables dimension_order(const Fabric& fabric, const Targets& targets);

/// Shortest paths among those that never go up after down, balanced as minhop. Ranks are distances
/// from the roots, between equal ranks the smaller GUID is up. Identical to the engine `updn` of
/// OpenSM 3.3, which in fabrics that are no trees lets some paths through that break the rule.
/// Cost: as minhop, with every link looked at a few times.
Tables up_down(const Fabric& fabric, const Targets& targets, std::span<const SwitchId> roots);

/// The roots that up_down starts from when none are given: switches with more than 90 % of all
/// hosts at one distance and no other distance with more than 5 %.
/// Cost: a breadth-first search from every switch, 256 of them at the price of a few.
std::vector<SwitchId> find_roots(const Fabric& fabric);

/// How cables in parallel take part in destination-mod-k.
enum class Parallel : std::uint8_t {
  after_parents,     ///< hosts are split by parents first, then by the cables to a parent
  in_order_of_ports  ///< every up port is a parent of its own, as in the 16-node figure
};

/// Destination-mod-k on trees: host d leaves a switch of level l, with w_l parents by p_l cables
/// each, by turn floor(d / (w_0 ... w_{l-1})) mod (w_l p_l), where turn t goes to parent t mod w_l
/// by its cable floor(t / w_l), and comes down by the cable that leads up from the switch below by
/// the same rule. Hosts are counted in the order of the tree, those of the lowest level first.
/// (Zahavi, D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat
/// trees, CCIT report 776, 2010.) Where going up, then down leads nowhere, as from one spine with
/// hosts to another, the route goes towards the first leaf that has such a way.
/// Cost: O(switches * addresses). Throws Error when the fabric is no tree, see tree_fault.
Tables d_mod_k(const Fabric& fabric, const Targets& targets, Parallel parallel);

/// Every cable of a tree joins different levels, see find_levels; what no path between hosts needs
/// does not count. Returns two switches that a cable joins and their level, from 0, where it
/// doesn't, or nothing.
std::vector<SwitchId> tree_fault(const Fabric& fabric);

}  // namespace contend
