#pragma once

#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

// What simultaneous messages get when those that are held back elsewhere leave their part of a
// channel to the others. Every channel has rate 1, host channels included.

/// The max-min fair share of every message: no message can get more without taking from one that
/// has no more than itself, so every message has a full channel on which no other gets more
/// (Bertsekas and Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2). A message from a
/// place to itself gets 1. Throws Error when a place does not exist.
///
/// All shares rise together, channels filling up one after the other, the next one found by a heap.
/// Cost: O(n log n) for n channels crossed by all messages together.
std::vector<double> fair_share(const Resolver& resolver, std::span<const Place> source,
                               std::span<const Place> target);

/// When messages that start together end, each getting its max-min fair share of what is under way
/// at the time. Sizes are positive, one a message, or none when all are 1. A message from a place
/// to itself ends at its size. Throws as above, and for other sizes.
///
/// Messages of equal size end at 1 / fair_share(): on the channel that holds a message back no
/// other is faster, so none ends before it. Cost: that of fair_share() for every different time.
std::vector<double> fluid_times(const Resolver& resolver, std::span<const Place> source,
                                std::span<const Place> target, std::span<const double> size);

}  // namespace contend
