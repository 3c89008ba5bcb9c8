#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "contend/routes/together/ideal_ways.hpp"

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

/// The ways that messages of one round may take: for every class of targets that any is sent to,
/// the switches on the ways from their leaves, and the trunks that lead on.
///
/// Nodes are a switch on the way to a class; each comes before those that its arcs lead to, and the
/// node where the class ends has none.
class IdealGraph {
 public:
  struct Arc {
    std::uint32_t trunk;
    std::uint32_t to;  ///< node
  };

  explicit IdealGraph(const IdealTrunks& trunks)
      : trunks_(trunks), node_of_switch_(trunks.ways().next.switches(), kNone) {}

  void clear() {
    first_arc_.assign(1, 0);
    arcs_.clear();
  }
  /// Adds the ways to a class from some leaves, whose nodes it writes.
  /// Cost: linear in the arcs.
  void add(std::size_t row, std::span<const std::uint32_t> leaf, std::span<std::uint32_t> node) {
    const std::vector<SwitchId>& sources = trunks_.ways().next.sources;
    order_.clear();
    for (const std::uint32_t each : leaf) enter(row, sources[each]);
    const auto first = static_cast<std::uint32_t>(nodes());
    const auto count = static_cast<std::uint32_t>(order_.size());
    // What was left last comes first: all that leads to a switch is left after it.
    for (std::uint32_t k = 0; k < count; ++k) node_of_switch_[order_[count - 1 - k]] = first + k;
    for (std::uint32_t k = 0; k < count; ++k) {
      for (const std::uint32_t trunk : trunks_.from(row, order_[count - 1 - k])) {
        arcs_.push_back({trunk, node_of_switch_[trunks_.end(trunk)]});
      }
      first_arc_.push_back(arcs_.size());
    }
    for (std::size_t k = 0; k < leaf.size(); ++k) {
      node[k] = node_of_switch_[sources[leaf[k]]];
    }
    for (const SwitchId s : order_) node_of_switch_[s] = kNone;
  }

  std::size_t nodes() const { return first_arc_.size() - 1; }
  std::span<const Arc> arcs() const { return arcs_; }
  std::size_t first_arc(std::size_t node) const { return first_arc_[node]; }
  std::span<const Arc> arcs_of(std::size_t node) const {
    return {arcs_.data() + first_arc_[node], first_arc_[node + 1] - first_arc_[node]};
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Step {
    SwitchId at;
    std::uint32_t next;  ///< of its trunks
  };

  /// Visits the switches on the ways from one, depth first; each is in order_ after those it leads
  /// to.
  void enter(std::size_t row, SwitchId from) {
    if (node_of_switch_[from] != kNone) return;
    node_of_switch_[from] = 0;
    path_.assign(1, {from, 0});
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::span<const std::uint32_t> trunks = trunks_.from(row, step.at);
      if (step.next == trunks.size()) {
        order_.push_back(step.at);
        path_.pop_back();
        continue;
      }
      const SwitchId to = trunks_.end(trunks[step.next++]);
      if (node_of_switch_[to] != kNone) continue;
      node_of_switch_[to] = 0;
      path_.push_back({to, 0});
    }
  }

  const IdealTrunks& trunks_;
  std::vector<std::uint32_t> node_of_switch_;  ///< while ways to one class are added
  std::vector<SwitchId> order_;
  std::vector<Step> path_;
  std::vector<std::size_t> first_arc_{0};
  std::vector<Arc> arcs_;
};

}  // namespace contend
