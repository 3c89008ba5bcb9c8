#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../rounds/round_load.hpp"
#include "contend/routes/computed/even_tree.hpp"
#include "worst_counter.hpp"

namespace contend {

/// Counts messages that spread evenly over a complete tree, by the bundles of cables that they go
/// up and down. Cost of a round: two counters a message and step, and a look at all channels.
class TreeCounter final : public WorstCounter<TreeCounter> {
 public:
  explicit TreeCounter(const EvenTree& tree)
      : tree_(&tree),
        count_(2 * tree.bundles().size(), 0),
        load_(count_.size(), 0),
        parts_(count_.size(), 0) {
    worst_.resize(count_.size());
  }

  void set_rates(const ChannelRates& rates) override {
    seconds_.assign(count_.size(), 0);
    slowest_.assign(count_.size(), 0);
    for_each_channel([&](std::size_t way, std::size_t channel) {
      seconds_[way] = std::max(seconds_[way], 1 / rates[channel]);
    });
  }

  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t m = 0; m < source.size(); ++m) {
      for_each_of(source[m], target[m], [&](std::size_t way) { ++count_[way]; });
    }
  }
  void absorb(const SplitCounter& other) override {
    const std::vector<std::uint64_t>& more = static_cast<const TreeCounter&>(other).count_;
    for (std::size_t way = 0; way < count_.size(); ++way) count_[way] += more[way];
  }
  void clear() override { std::fill(count_.begin(), count_.end(), 0U); }

  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    for (std::size_t way = 0; way < count_.size(); ++way) {
      load_[way] = static_cast<double>(count_[way]) / tree_->bundles()[way / 2].cables;
    }
    const double most = round_load(load_.data(), unit, parts_.data(), load_.size());
    std::fill(parts.begin(), parts.end(), 0U);
    for_each_channel([&](std::size_t way, std::size_t channel) { parts[channel] = parts_[way]; });
    return most;
  }

  void find_worst(std::span<const std::uint32_t> usage, std::uint32_t largest, std::uint32_t unit,
                  PiValues& values) override {
    values.number(usage, largest, unit);
    const std::uint32_t* const number = values.of_channels(usage);
    for (std::size_t way = 0; way < worst_.size(); ++way) {
      worst_[way] = number[tree_->bundles()[way / 2].first + way % 2];
    }
    for (std::size_t way = 0; way < slowest_.size(); ++way) {
      slowest_[way] = load_[way] * seconds_[way];
    }
  }

  /// Bundles upwards have even numbers, those downwards odd ones.
  template <class Visit>
  void for_each_of(Place source, Place target, const Visit& visit) const {
    const std::uint32_t* const from = tree_->of(source);
    const std::uint32_t* const to = tree_->of(target);
    for (std::size_t k = 0; k < tree_->steps() && from[k] != to[k]; ++k) {
      visit(2 * std::size_t{from[k]});
      visit(2 * std::size_t{to[k]} + 1);
    }
  }

 private:
  template <class Visit>
  void for_each_channel(const Visit& visit) const {
    for (std::size_t bundle = 0; bundle < tree_->bundles().size(); ++bundle) {
      const EvenTree::Bundle& cables = tree_->bundles()[bundle];
      for (std::size_t k = 0; k < cables.cables; ++k) {
        visit(2 * bundle, cables.first + 2 * k);
        visit(2 * bundle + 1, cables.first + 2 * k + 1);
      }
    }
  }

  const EvenTree* tree_;
  std::vector<std::uint64_t> count_;  ///< by way, as those that follow
  std::vector<double> load_;
  std::vector<std::uint32_t> parts_;
  std::vector<double> seconds_;  ///< a byte takes alone; empty where links are alike
};

}  // namespace contend
