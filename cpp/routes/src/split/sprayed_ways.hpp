#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/split/part_lists.hpp"
#include "contend/routes/ways/next_hops.hpp"
#include "contend/routes/ways/topology.hpp"

namespace contend {

/// The shortest ways to every class of targets, in the order in which messages cross them.
///
/// Sets of channels that end at the same switches are a bundle: what is counted of all of them goes
/// on from there at once. Bundles are numbered behind the switches.
class SprayedWays {
 public:
  SprayedWays(const Fabric& fabric, NextHops next);

  const NextHops& next() const { return next_; }
  std::size_t switches() const { return switches_; }
  std::size_t classes() const { return next_.ends.size(); }
  std::size_t bundles() const { return first_end_.size() - 1; }
  std::size_t channels() const { return to_.size(); }
  std::size_t sets() const { return next_.first.size() - 1; }

  std::uint32_t set_at(std::size_t row, SwitchId s) const {
    return next_.set_of[row * switches_ + s];
  }
  std::span<const ChannelId> channels_at(std::size_t row, SwitchId s) const {
    return next_.of_set(set_at(row, s));
  }
  /// Where a channel between switches ends.
  SwitchId end_of(ChannelId channel) const { return to_[channel]; }
  std::uint32_t bundle_of(std::uint32_t set) const { return bundle_of_[set]; }
  /// Where the channels of a bundle end, ascending; a switch as often as they do.
  std::span<const SwitchId> ends_of(std::uint32_t bundle) const {
    const std::size_t number = bundle - switches_;
    return {end_.data() + first_end_[number], first_end_[number + 1] - first_end_[number]};
  }
  /// Switches on the ways to a class and the bundles between them, each before what it leads to;
  /// the end is left out.
  std::span<const std::uint32_t> order_of(std::size_t row) const {
    return {order_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }
  /// Switches and ends of bundles in the orders of all classes.
  std::uint64_t work() const { return work_; }
  std::size_t bytes() const {
    return (next_.set_of.size() + order_.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size() + end_.size()) * sizeof(ChannelId);
  }

 private:
  void bundle_sets();
  void put_in_order(const Fabric& fabric);
  void take_over(std::vector<std::uint32_t>& bundles);

  std::size_t switches_;
  NextHops next_;
  std::vector<SwitchId> to_;              ///< where every channel ends
  std::vector<std::uint32_t> bundle_of_;  ///< of every set
  std::vector<std::size_t> first_end_{0};
  std::vector<SwitchId> end_;  ///< where the channels of every bundle end
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> begin_;
  std::uint64_t work_ = 0;
};

/// The lists of all messages that are sprayed.
///
/// What a message does behind its first hop depends on where that ends and on its target alone; and
/// targets for which all switches between do the same, as those below the same spines of a fat
/// tree, have all but their last hop in common. Cost: twice, from every such bundle of first hops
/// to every such group of targets, the channels on the ways. None where the lists would have more
/// than kMostPerStep entries for each step that following the messages takes: of direct networks,
/// where little is in common.
std::unique_ptr<const PartLists> make_part_lists(const SprayedWays& ways);

/// A resolver by the formula of a topology; null where ways have to be searched for.
std::unique_ptr<Resolver> make_sprayed_formula(const Fabric& fabric, const Places& places,
                                               const Topology& topology, bool by_groups);

}  // namespace contend
