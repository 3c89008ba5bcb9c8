#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/simulate.hpp"

namespace contend {

/// Who sends messages across channels, and to whom: messages of all rounds and samples by channel
/// and place, a row of places for every channel that was asked for. Of a message that takes several
/// ways the part that crosses the channel counts.
struct ChannelUsers {
  /// What a whole message counts for.
  std::uint64_t unit = 1;
  std::vector<std::uint64_t> sources;
  std::vector<std::uint64_t> targets;
};

/// Draws what simulate() draws, by the same arguments, and sees who uses some of the channels:
/// `channels` are numbers of channels between switches, then of injection and ejection by place.
/// Throws Error as simulate() does, and where a channel does not exist or is named twice.
///
/// Cost per message: one draw, one route lookup, one load per channel. Memory: two numbers for
/// every place, channel that was asked for, and thread. Where messages split over all ways, one
/// load per channel instead of the lookup, and four bytes for every two leaves and channel. Where
/// they split as is best for all of a round, at these rates of channels (none: all alike), what the
/// round costs simulate().
ChannelUsers channel_users(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                           const Samples& samples, std::span<const std::uint32_t> channels,
                           std::span<const double> rate, int threads);

}  // namespace contend
