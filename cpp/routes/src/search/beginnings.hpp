#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "contend/routes/checks/channel_order.hpp"
#include "free_of_circles.hpp"
#include "routed_traffic.hpp"

namespace contend {

/// Traffic with its routes, and the lane and the turns of every destination.
struct Routing {
  RoutedTraffic traffic;
  std::vector<ChannelOrder> orders;  ///< by lane
  std::vector<std::uint8_t> lane;    ///< by destination

  bool note(std::size_t d) { return note_turns(traffic, d, orders[lane[d]]); }
  void forget(std::size_t d) { forget_turns(traffic, d, orders[lane[d]]); }
  /// Routes destination d, which is off the links, by a tree that closes no circle; false if none
  /// is found.
  bool place(std::size_t d, CircleFreeSearch& search);
};

/// Routings without circles on fabrics that are no trees, from which a descent may begin: all of
/// them by a spanning tree and what else can be allowed beside its turns.
class Beginnings {
 public:
  Beginnings(const SwitchLinks& links, CircleFreeSearch& search)
      : links_(&links), search_(&search) {}

  /// Keeps the turns that carry most in a routing with circles, as long as none closes, and the
  /// trees that need no others; the rest get trees of the turns that are left.
  Routing within_heaviest_turns(const Routing& unbound, SwitchId root) const;
  /// Begins with everything on the spanning tree, and lets one destination after the other find a
  /// better one.
  Routing within_spanning_tree(const Routing& unrouted, SwitchId root) const;

 private:
  using Turns = std::vector<std::pair<LinkId, LinkId>>;

  std::vector<LinkId> spanning_tree(SwitchId root) const;
  Turns turns_of(const std::vector<LinkId>& parent) const;
  Turns heaviest_turns(const Routing& routing, std::uint8_t lane) const;
  void set_along(RoutedTraffic& traffic, std::size_t d, const std::vector<LinkId>& parent) const;

  const SwitchLinks* links_;
  CircleFreeSearch* search_;
};

}  // namespace contend
