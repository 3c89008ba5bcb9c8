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

/// What messages meet that take several ways at once, where these are fixed or follow from all
/// messages together, by Ways.
struct SplitCongestion {
  std::vector<double> load;   ///< the largest that a message meets; 0 from a place to itself
  std::vector<double> share;  ///< as above, where all its parts go on at the pace of the slowest
};

/// Throws Error as message_congestion(), and for routes that take one way at a time.
SplitCongestion split_congestion(const Resolver& resolver, std::span<const Place> source,
                                 std::span<const Place> target, std::span<const double> rate = {});

/// What crosses every channel, as channel_messages above, when every message carries an amount of
/// its own. Throws Error as message_congestion() does, for an amount too few, and where a channel's
/// sum does not fit.
std::vector<std::uint64_t> channel_amounts(const Resolver& resolver, std::span<const Place> source,
                                           std::span<const Place> target,
                                           std::span<const std::uint64_t> amount);

// What simultaneous messages get when those that are held back elsewhere leave their part of a
// channel to the others. `rate`: bytes per second of every channel, between switches, then
// injection and ejection by place; empty where all carry the same, each 1. `draw`: which drawing of
// routes messages take, see Resolver::resolve_drawn.

/// The max-min fair share of every message: no message can get more without taking from one that
/// has no more than itself, so every message has a full channel on which no other gets more
/// (Bertsekas and Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2). In parts of the
/// slower of its two hosts' ports. A message from a place to itself gets 1. Throws Error when a
/// place does not exist, or for other rates.
///
/// All shares rise together, channels filling up one after the other, the next one found by a heap.
/// Cost: O(n log n) for n channels crossed by all messages together.
std::vector<double> fair_share(const Resolver& resolver, std::span<const Place> source,
                               std::span<const Place> target, std::span<const double> rate = {},
                               std::uint64_t draw = 0);

/// When messages that start together end, each getting its max-min fair share of what is under way
/// at the time: seconds, for sizes in bytes. Sizes are positive, one a message, or none when all
/// are
/// 1. A message from a place to itself takes as long as at the fastest port. Throws as above, and
/// for other sizes.
///
/// Messages of equal size end at 1 / fair_share() where all channels have rate 1: on the channel
/// that holds a message back no other is faster, so none ends before it. Cost: that of fair_share()
/// for every different time.
std::vector<double> fluid_times(const Resolver& resolver, std::span<const Place> source,
                                std::span<const Place> target, std::span<const double> size,
                                std::span<const double> rate = {});

}  // namespace contend
