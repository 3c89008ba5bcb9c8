#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

// Which messages may cross a channel. Places on one leaf switch have the same routes to places on
// other leaves, so one place stands for all of its leaf: `leaf` has the number of every place's
// leaf, from 0 without gaps. Not for resolvers that spread messages over several addresses.

/// For every channel between switches, how many places send across it to some place, and how many
/// receive across it from some place.
struct Reach {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint32_t> targets;
};

/// Throws Error when `leaf` does not fit the places.
/// Cost: every route from a leaf to a place, twice.
Reach channel_reach(const Resolver& resolver, std::span<const std::uint32_t> leaf);

/// Pairs of a leaf and a place on another one that the leaf's messages reach across a channel.
struct LeafPairs {
  std::vector<std::uint32_t> leaf;
  std::vector<Place> target;
};

/// Throws Error as above, and when there is no such channel between switches.
/// Cost: every route from a leaf to a place.
LeafPairs pairs_across(const Resolver& resolver, std::span<const std::uint32_t> leaf,
                       std::uint32_t channel);

}  // namespace contend
