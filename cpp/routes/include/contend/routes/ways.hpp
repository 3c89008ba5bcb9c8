#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// What of a message crosses a channel.
struct PartOnChannel {
  ChannelId channel;
  double part;
};

/// How messages split that take several ways at once. All messages between the same two leaves
/// split alike, so they are counted in bulk: `messages` holds their number by target's leaf and
/// source's leaf, [leaves][leaves].
class Ways {
 public:
  Ways() = default;
  virtual ~Ways() = default;
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  virtual std::size_t leaves() const = 0;
  /// Number of the leaf that a place is on.
  virtual std::uint32_t leaf_of(Place place) const = 0;

  /// Adds to the load of every channel between switches what the messages put on it.
  virtual void spread(std::span<const std::uint32_t> messages, std::span<double> load) const = 0;
  /// The largest value, of those by channel, on any channel that a message between two leaves
  /// crosses with a part of it; written for every pair that has messages.
  virtual void largest(std::span<const std::uint32_t> messages, std::span<const double> value,
                       std::span<double> largest) const = 0;
  /// The part of a message between two leaves that crosses a channel, by target's leaf and source's
  /// like `messages`. Cost: a look at all channels on shortest ways.
  virtual std::vector<double> parts_across(ChannelId channel) const = 0;
  /// Every channel that a message from one leaf to another crosses with a part of it, once.
  virtual std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                                   std::uint32_t target) const = 0;
};

/// Every packet of a message takes any of the shortest ways: at each switch a message splits evenly
/// over the cables that begin one, parallel cables each counting as one.
/// Cost of a look at all messages of a round: for every leaf that receives any, once all channels
/// on shortest ways to it. Memory, errors and `rest` as of make_hashed_resolver.
std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                const Remains* rest = nullptr);

}  // namespace contend
