#pragma once

#include <cstdint>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// The virtual lane of every route, for routes that take one way.
struct PairLanes {
  std::vector<std::uint32_t> row_of;  ///< by source: those of a switch share one, as routes do
  std::vector<std::uint8_t> lane;     ///< [rows][places]
  std::uint32_t lanes = 1;
};

/// Assigns every route the lowest lane on which no channels wait for each other in a circle then,
/// target by target (T. Skeie, O. Lysne, I. Theiss, Layered shortest path (LASH) routing in
/// irregular system area networks, IPDPS 2002). `places` are those of the resolver. Throws Error
/// where `most` lanes are too few. Cost: every hop of every route, once for each lane tried; memory
/// as of ChannelOrder for each lane.
PairLanes pair_lanes(const Fabric& fabric, const Resolver& resolver, const Places& places,
                     std::uint32_t most);

}  // namespace contend
