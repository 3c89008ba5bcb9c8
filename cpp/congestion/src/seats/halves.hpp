#pragma once

#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "rank_messages.hpp"

namespace contend {

/// Seats ranks by halving traffic and places together, again and again, until a place is alone
/// (dual recursive bipartitioning: Pellegrini and Roman, Scotch, HPCN 1996, section 2).
///
/// Places are halved by whether they are nearer to one or to the other of two far ends; ranks so
/// that few bytes go between the halves, times how far apart these are, counting also what goes to
/// ranks that are elsewhere already (Fiduccia and Mattheyses, DAC 1982). `taken` says how many
/// ranks every place gets. Cost: messages times log(places) times log(messages).
std::vector<Place> halve(const Resolver& resolver, const RankMessages& messages,
                         std::span<const std::uint32_t> taken);

}  // namespace contend
