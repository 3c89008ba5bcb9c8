#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

/// The congestion that simultaneous messages give each other.
struct MessageCongestion {
  /// pi of every message: the largest number of messages on any channel of its route, host channels
  /// included; 0 for a message from a place to itself.
  std::vector<std::uint32_t> congestion;
  /// What every message gets of the slower of its two hosts' ports: the least, over its channels,
  /// of rate over load; 1 / pi where all channels have the same rate; 1 from a place to itself.
  std::vector<double> share;
  /// Messages on every channel: between switches, then injection and ejection by place.
  std::vector<std::uint64_t> channel_messages;
};

/// Judges messages between places one by one. `rate` as of simulate(); `draw` is which drawing of
/// routes they take, see Resolver::resolve_drawn. Throws Error when a place does not exist, or for
/// other rates. Cost: as one round of simulate().
MessageCongestion message_congestion(const Resolver& resolver, std::span<const Place> source,
                                     std::span<const Place> target,
                                     std::span<const double> rate = {}, std::uint64_t draw = 0);

/// What every message gets of the slower of its two ports, as `share` above, where the load that it
/// meets is known: `stride` channels a message, the last two those of its hosts' ports, and on each
/// the load there, in messages or parts of them. `rate` is that of every channel, infinity for one
/// that pads short routes. Throws Error where these do not fit each other.
std::vector<double> route_shares(std::span<const std::uint32_t> route, std::size_t stride,
                                 std::span<const double> load, std::span<const double> rate);

/// What crosses every channel, as channel_messages above, when every message carries an amount of
/// its own. Throws Error as message_congestion() does, for an amount too few, and where a channel's
/// sum does not fit.
std::vector<std::uint64_t> channel_amounts(const Resolver& resolver, std::span<const Place> source,
                                           std::span<const Place> target,
                                           std::span<const std::uint64_t> amount);

}  // namespace contend
