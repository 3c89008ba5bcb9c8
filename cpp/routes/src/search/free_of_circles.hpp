#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contend/routes/checks/channel_order.hpp"
#include "routed_traffic.hpp"

namespace contend {

/// Finds a cheap tree to one destination whose turns close no circle with those of all others, and
/// the turns of whole tables.
///
/// A search from the destination outwards, by hops, then price (Dijkstra): a switch takes the
/// cheapest link by which it may join those that have one, where the order of channels admits
/// the turn. What a switch takes binds those behind it, so the tree need not be the cheapest there
/// is. Cost: links x hops, where sources are kept apart, else links; switches x log(switches); and
/// what the order takes for turns it has no room for yet.
class CircleFreeSearch {
 public:
  explicit CircleFreeSearch(const SwitchLinks& links)
      : links_(&links),
        hops_(links.switches()),
        cost_(links.switches()),
        price_(links.switches()),
        out_(links.switches()),
        done_(links.switches()) {}

  /// Looks for a tree to destination d, which is off the links and whose turns are not in the
  /// order. Without an order all turns are allowed. False when a source cannot be reached.
  bool find(const RoutedTraffic& traffic, std::size_t d, ChannelOrder* order);
  /// The tree that was found: the link out of every switch, or kNoLink.
  std::span<const LinkId> out() const { return out_; }
  /// What it costs over all that is sent.
  std::uint64_t cost(const RoutedTraffic& traffic, std::size_t d) const;

 private:
  void take_next_level();
  bool settle(SwitchId s);
  void look_again(SwitchId s);
  void look_around(SwitchId s);
  void offer(SwitchId s, LinkId link, SwitchId far);
  bool may_join(LinkId link, SwitchId far) const {
    return order_ == nullptr || far == end_ || order_->admits(link, out_[far]);
  }
  std::uint64_t own_behind(const RoutedTraffic& traffic, SwitchId source, SwitchId from) const;

  const SwitchLinks* links_;
  std::vector<std::uint32_t> hops_;
  std::vector<std::uint64_t> cost_;
  std::vector<std::uint64_t> price_;  ///< of the links from a switch on, once it is done
  std::vector<LinkId> out_;
  std::vector<std::uint8_t> done_;
  const RoutedTraffic* traffic_ = nullptr;
  ChannelOrder* order_ = nullptr;
  std::size_t destination_ = 0;
  SwitchId end_ = kNoSwitch;
  std::vector<std::pair<LinkId, LinkId>> turns_;                ///< of the tree so far
  std::uint32_t level_ = 0;                                     ///< hops of the switches in turn
  std::vector<std::pair<std::uint64_t, SwitchId>> level_left_;  ///< with their costs
  std::vector<SwitchId> next_;                                  ///< that are a hop further
};

/// Notes the turns of destination d's routes in an order; false, and none noted, where they close a
/// circle.
bool note_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order);
void forget_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order);

}  // namespace contend
