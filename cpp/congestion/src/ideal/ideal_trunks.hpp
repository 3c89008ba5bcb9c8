#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolvers/ideal_ways.hpp"

namespace contend {

/// Channels of ideal ways that fill evenly, counted as one: all that lead from switches which are
/// alike to switches which are alike.
///
/// Switches are alike where each has as much capacity to, and from, every lot of switches that are
/// alike; those with hosts that take part are each a lot of their own. That is the coarsest
/// equitable partition, found by colour refinement. What crosses one of them may as well be spread
/// over all, in proportion, and rates are none the worse for it (Grohe, Kersting, Mladenov, Selman
/// 2014, "Dimension reduction via colour refinement"): the spines of a fat tree are one.
class IdealTrunks {
 public:
  /// `rate` by channel between switches. Cost: a sort of all channels for every round of
  /// refinement, of which there are few.
  IdealTrunks(const IdealWays& ways, std::span<const double> rate);

  const IdealWays& ways() const { return *ways_; }
  std::size_t size() const { return capacity_.size(); }
  /// What the channels of every trunk carry together.
  const std::vector<double>& capacity() const { return capacity_; }
  std::span<const ChannelId> channels_of(std::size_t trunk) const {
    return {channels_.data() + first_channel_[trunk],
            first_channel_[trunk + 1] - first_channel_[trunk]};
  }
  /// The switch that a trunk leads to: one for all that are alike.
  SwitchId end(std::uint32_t trunk) const { return end_[trunk]; }
  /// The trunks that lead on from a switch on the way to a class.
  std::span<const std::uint32_t> from(std::size_t row, SwitchId s) const {
    const std::uint32_t set = ways_->next.set_of[row * ways_->next.switches() + s];
    return {of_set_.data() + first_of_set_[set], first_of_set_[set + 1] - first_of_set_[set]};
  }

 private:
  const IdealWays* ways_;
  std::vector<double> capacity_;
  std::vector<SwitchId> end_;
  std::vector<std::uint32_t> first_channel_;
  std::vector<ChannelId> channels_;
  std::vector<std::uint32_t> first_of_set_;  ///< by set of the ways, into of_set_
  std::vector<std::uint32_t> of_set_;
};

}  // namespace contend
