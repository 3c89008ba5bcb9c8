#pragma once

#include <cstdint>
#include <span>

#include "contend/routes/resolver.hpp"
#include "contend/schedule/phases_by_routes.hpp"

namespace contend {

/// The routes between all places, as phases are made from. Places are the hosts there, and channels
/// keep their numbers; those of hosts are left out. Cost: a look-up for each pair of places;
/// memory: 8 bytes a pair and 4 a channel of its route.
HostRoutes host_routes(const Resolver& resolver);

/// Phases for ranks at places; see above. Throws Error for a place that there is
/// not.
Phases phases_by_routes(const Resolver& resolver, std::span<const std::uint32_t> place_of_rank);

}  // namespace contend
