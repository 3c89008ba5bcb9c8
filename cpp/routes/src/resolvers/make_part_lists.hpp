#pragma once

#include <memory>

#include "contend/routes/resolvers/part_lists.hpp"
#include "sprayed_ways.hpp"

namespace contend {

/// The lists of all messages that are sprayed.
///
/// What a message does behind its first hop depends on where that ends and on its target alone; and
/// targets for which all switches between do the same, as those below the same spines of a fat
/// tree, have all but their last hop in common. Cost: twice, from every such bundle of first hops
/// to every such group of targets, the channels on the ways. None where the lists would have more
/// than kMostPerStep entries for each step that following the messages takes: of direct networks,
/// where little is in common.
std::unique_ptr<const PartLists> make_part_lists(const SprayedWays& ways);

}  // namespace contend
