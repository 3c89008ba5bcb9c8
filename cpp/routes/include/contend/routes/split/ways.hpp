#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contend/base/progress.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/split/part_lists.hpp"
#include "contend/routes/ways/next_hops.hpp"
#include "contend/routes/ways/topology.hpp"

namespace contend {

/// What of a message crosses a channel.
struct PartOnChannel {
  ChannelId channel;
  double part;
};

/// What spread() has met, for largest(): by target's class, what messages cross, in their order.
struct Crossed {
  void clear() {
    items.clear();
    ends.clear();
  }
  std::vector<std::uint32_t> items;
  /// Where those of every class that receives any end.
  std::vector<std::size_t> ends;
};

/// How messages split that take several ways at once. All messages from a leaf to targets of one
/// class split alike, so they are counted in bulk: `messages` holds their number by target's class
/// and source's leaf, [classes][leaves].
class Ways : public Classes {
 public:
  explicit Ways(Classes classes) : Classes(std::move(classes)) {}
  virtual ~Ways() = default;
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  /// What all messages put on channels, in lists that they share; null where that takes too many,
  /// or messages split only beside others. Made when first asked for; several threads may ask.
  virtual const PartLists* part_lists() const { return nullptr; }
  /// Up to so many messages of a round take less by parts_between() of each than by their number
  /// for every pair.
  virtual std::uint64_t most_followed() const { return 0; }

  /// Adds to the load of every channel between switches what the messages put on it.
  virtual void spread(std::span<const std::uint64_t> messages, std::span<double> load,
                      Crossed& crossed) const = 0;
  /// The largest value, of those by channel, on any channel that a message from a leaf to a
  /// class crosses with a part of it; written for every pair that has messages. `crossed` is what
  /// spread() has met of the same messages.
  virtual void largest(std::span<const std::uint64_t> messages, const Crossed& crossed,
                       std::span<const double> value, std::span<double> largest) const = 0;
  /// The part of a message that crosses a channel, by target's class and source's leaf like
  /// `messages`. Cost: a look at all channels on the ways.
  virtual std::vector<double> parts_across(ChannelId channel) const = 0;
  /// Every channel that a message from a leaf to a class of targets crosses with a part of it,
  /// once.
  virtual std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                                   std::uint32_t target) const = 0;

 protected:
  /// Visits every class of targets that some messages are for: these, by leaf, and its number.
  template <class Visit>
  void for_each_target(std::span<const std::uint64_t> messages, const Visit& visit) const {
    for (const std::size_t row : InParts(classes())) {
      const std::span<const std::uint64_t> sent = messages.subspan(row * leaves(), leaves());
      if (std::ranges::any_of(sent, [](std::uint64_t count) { return count > 0; })) {
        visit(sent, row);
      }
    }
  }
};

/// What a message counts for that is sprayed: a thousandth is told from none.
inline constexpr std::uint32_t kSprayUnit = 1024;

/// Every packet of a message takes any way: at each switch a message splits evenly over the
/// channels that lead on, parallel cables each counting as one. Cost of a look at all messages of a
/// round: for every class that receives any, once all switches on the ways to it, and all different
/// sets of switches that these lead to.
std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                NextHops next);

/// The same by the shortest ways on a topology, which is borrowed, as the fabric is. `group` of
/// every switch, or none; see Measure: on dragonflies theirs alone.
/// Cost of a message on grids: the channels on its ways, eight bytes for each switch there.
std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                const Topology& topology,
                                                std::span<const std::uint32_t> group = {});

}  // namespace contend
