#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// The ways among which ideal adaptive switches choose: all of `next`, whose rows are classes of
/// targets.
struct IdealWays {
  /// Arcs that the ways of one round may have: some 8 GB, and seconds for every pass over them.
  static constexpr std::size_t kMostArcs = std::size_t{1} << 27;

  Classes classes;
  NextHops next;
  std::vector<SwitchId> to;  ///< by channel between switches: where it ends
  std::size_t most_arcs;     ///< a round with more is refused

  /// Where a channel begins: the other of its cable ends there.
  SwitchId from(ChannelId channel) const { return to[channel ^ 1U]; }
};

/// Every message splits over its ways as is best for all: what messages get is max-min fair, so
/// that none can get more unless one that gets no more than it loses.
/// How one splits depends on all the others: there is nothing to resolve one by one.
std::unique_ptr<Resolver> make_ideal_resolver(const Fabric& fabric, const Places& places,
                                              NextHops next,
                                              std::size_t most_arcs = IdealWays::kMostArcs);

}  // namespace contend
