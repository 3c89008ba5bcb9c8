#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace contend::tuned {

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

/// An all-to-all in phases. Every rank sends to every other rank once. In a phase
/// - a rank sends to one other rank at most, and receives from one at most;
/// - no channel carries two messages, ports of hosts included; ranks of one host use no channel to
///   reach each other;
/// - no two ranks send to each other: one connection would carry both ways, each at half its rate.
struct Phases {
  std::uint32_t ranks = 0;
  std::uint32_t count = 0;
  /// No schedule of that kind can have fewer phases than this.
  std::uint32_t bound = 0;
  /// The rank that a rank sends to in a phase, at rank * count + phase; -1 for none. What a rank
  /// has to know lies together, so that it can be handed out.
  std::vector<std::int32_t> to;
  /// The rank that it receives from, likewise.
  std::vector<std::int32_t> from;
};

/// Phases for ranks on hosts; the same for the same input, on any machine.
/// Throws std::invalid_argument, in one line, for input that makes no sense.
[[nodiscard]] Phases phases_by_routes(const HostRoutes& routes,
                                      const std::vector<std::uint32_t>& host_of_rank);

/// The least number of phases that there can be: ranks - 1, or the messages of the fullest channel
/// where these are more; 2 and 4 for two and four ranks, which the ban on both ways costs one more.
[[nodiscard]] std::uint32_t fewest_phases(const HostRoutes& routes,
                                          const std::vector<std::uint32_t>& host_of_rank);

}  // namespace contend::tuned
