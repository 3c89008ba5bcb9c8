#pragma once

#include <span>

#include "../rounds/channel_rates.hpp"
#include "../rounds/round_averages.hpp"
#include "contend/congestion/simulate.hpp"

namespace contend {

/// Whether count_exchanges() can count all rounds of a pattern, and with fewer steps than one for
/// each of their messages.
bool counts_exchanges(const Resolver& resolver, const Pattern& pattern);

/// Counts rounds of exchanges without following their messages one by one. The routes to a target
/// form a tree: one pass towards the target adds up how many messages the switches send each other,
/// a pass back finds the largest load on the way from every leaf. Sources count together that share
/// a leaf and what loads their own channel.
///
/// Fills the averages of each (sample, round), and what messages get by the rates where these are
/// given, and adds to the histogram, the channels' messages and the seconds of `result`. Figures do
/// not depend on the number of threads, which share the targets of a round.
///
/// Cost: twice each pair of target and switch, and each pair of target and group of sources.
/// Memory: two words for each rank, and for each thread and channel. Throws Error where a channel
/// gets too many messages.
void count_exchanges(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                     const Samples& samples, int threads, const ChannelRates* rates,
                     std::span<RoundAverages> cells, std::span<RoundShares> shares,
                     BatchResult& result);

}  // namespace contend
