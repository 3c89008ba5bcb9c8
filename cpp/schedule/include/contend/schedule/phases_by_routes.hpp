#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

/// The channels that routes between hosts cross, in a compressed array. Channels that belong to one
/// host alone, its injection and its ejection port, are left out: they are known.
struct HostRoutes {
  std::uint32_t hosts = 0;
  /// Channels are numbered from 0 to channels - 1, in any way.
  std::uint32_t channels = 0;
  /// Where the route of each ordered pair of hosts begins in `channel`, that from host s to host t
  /// at s * hosts + t, and the end; hosts * hosts + 1 numbers. Routes from a host to itself are
  /// not looked at.
  std::vector<std::uint64_t> begin;
  std::vector<std::uint32_t> channel;
};

/// An all-to-all in phases, as `schedules/phases_by_routes.h` describes it.
struct Phases {
  std::uint32_t ranks = 0;
  std::uint32_t count = 0;
  /// No schedule of that kind can have fewer phases than this.
  std::uint32_t bound = 0;
  /// The rank that a rank sends to in a phase, at rank * count + phase; -1 for none.
  std::vector<std::int32_t> to;
  /// The rank that it receives from, likewise.
  std::vector<std::int32_t> from;
};

/// Phases for ranks on hosts; the same for the same input, on any machine.
/// Throws Error, in one line, for input that makes no sense.
[[nodiscard]] Phases phases_by_routes(const HostRoutes& routes,
                                      const std::vector<std::uint32_t>& host_of_rank);

/// The routes between all places, as phases are made from. Places are the hosts there, and channels
/// keep their numbers; those of hosts are left out. Cost: a look-up for each pair of places;
/// memory: 8 bytes a pair and 4 a channel of its route.
HostRoutes host_routes(const Resolver& resolver);

/// Phases for ranks at places; see above. Throws Error for a place that there is
/// not.
Phases phases_by_routes(const Resolver& resolver, std::span<const std::uint32_t> place_of_rank);

}  // namespace contend
