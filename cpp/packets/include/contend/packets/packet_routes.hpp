#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/crossings.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// Where the packets of messages may go. A step is a message on a channel that it may cross; those
/// of a message stand together, the first on its host's channel into the network.
struct PacketRoutes {
  std::size_t channels = 0;  ///< between switches, then injection and ejection by place
  std::size_t places = 0;
  std::vector<std::uint32_t> channel;  ///< by step
  std::vector<std::uint32_t> message;  ///< by step
  /// The first step of every message, and where those of the last end. A message from a place to
  /// itself has none.
  std::vector<std::uint32_t> first;
  /// Where the choices of every step begin, and where those of the last end; and the step that each
  /// leads to. Both empty where every step leads to the one behind it.
  std::vector<std::uint32_t> first_choice;
  std::vector<std::uint32_t> then;
};

/// Routes that take one way at a time. Throws Error as Crossings does, and for 2^32 steps or more.
PacketRoutes packet_routes(const Resolver& resolver, std::span<const Place> source,
                           std::span<const Place> target, std::uint64_t draw);

/// Routes on which every switch chooses for each packet among the next hops. Places are the hosts
/// that the next hops are for. Throws Error where a place does not exist, or for 2^32 steps or
/// more. Cost: one look at every channel on the ways of each message.
PacketRoutes packet_routes(const Fabric& fabric, const NextHops& next, const Places& places,
                           std::span<const Place> source, std::span<const Place> target);

}  // namespace contend
