#pragma once

#include <cstddef>
#include <memory>

#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/fabric/grid.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// The routes of minhop() on a complete tree without tables.
///
/// The switches above some leaves give the cables up, in the order of their ports, to one host
/// after the other that is not below them, and so the cables down to the same child. All hosts
/// stand in one order, so the turn of a host is its place in that order less the hosts before it
/// that are below the switch: a number for each subtree and leaf, which a table holds. For a leaf
/// alone it is all of its hosts or none.
///
/// Memory: a word for each place and step; for each step but the first `turn_entries` times two
/// bytes. Every place has an address; of hosts with several addresses the first counts. Borrows the
/// fabric.
std::unique_ptr<Resolver> make_balanced_tree_resolver(const Fabric& fabric,
                                                      const CompleteTree& tree,
                                                      const Targets& targets, const Places& places);

/// Pairs of a subtree and a leaf that the above holds a turn for.
std::size_t turn_entries(const CompleteTree& tree);

/// The routes of dimension_order() on a grid without tables. Every place has an address; of hosts
/// with several the first counts. Borrows the fabric and the grid.
std::unique_ptr<Resolver> make_dimension_order_resolver(const Fabric& fabric, const Grid& grid,
                                                        const Targets& targets,
                                                        const Places& places);

}  // namespace contend
