#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../rounds/fold_usage.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/split/even_tree.hpp"
#include "contend/routes/split/ways.hpp"
#include "split_counter.hpp"

namespace contend {

/// Counts messages that spread evenly over a complete tree, by the bundles of cables that they go
/// up and down. Cost of a round: two counters a message and step, and a look at all channels.
class TreeCounter final : public WorstCounter<TreeCounter> {
 public:
  explicit TreeCounter(const EvenTree& tree)
      : WorstCounter(2 * tree.bundles().size(), 2 * tree.bundles().size()),
        tree_(&tree),
        parts_(count_.size(), 0) {}

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

  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    for (std::size_t way = 0; way < count_.size(); ++way) {
      load_[way] = static_cast<double>(count_[way]) / tree_->bundles()[way / 2].cables;
    }
    const double most = round_load(load_.data(), unit, parts_.data(), load_.size());
    std::fill(parts.begin(), parts.end(), 0U);
    for_each_channel([&](std::size_t way, std::size_t channel) { parts[channel] = parts_[way]; });
    return most;
  }

  void find(const std::uint32_t* number) {
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
  std::vector<std::uint32_t> parts_;  ///< by way, as all else
};

/// Counts messages by their lists of parts. Cost of a round: three counters a message, and twice
/// every entry of the lists that any message has.
class ListsCounter final : public WorstCounter<ListsCounter> {
 public:
  ListsCounter(const Ways& ways, std::size_t places)
      : WorstCounter(ways.part_lists()->lists(), ways.part_lists()->cells()),
        lists_(*ways.part_lists()),
        parts_(load_.size()),
        number_(load_.size()),
        channel_(load_.size(), 0) {
    for (Place place = 0; place < places; ++place) {
      leaf_.push_back(ways.leaf_of(place));
      row_.push_back(ways.class_of(place) * ways.leaves());
    }
    const std::vector<std::uint32_t>& cell = lists_.cell_of_channel();
    for (std::size_t c = cell.size(); c-- > 0;) channel_[cell[c]] = c;
  }

  void set_rates(const ChannelRates& rates) override {
    const std::vector<std::uint32_t>& cell = lists_.cell_of_channel();
    seconds_.assign(load_.size(), 0);
    for (std::size_t c = 0; c < cell.size(); ++c) {
      seconds_[cell[c]] = std::max(seconds_[cell[c]], 1 / rates[c]);
    }
    time_.resize(load_.size());
    slowest_.assign(count_.size(), 0);
  }

  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t m = 0; m < source.size(); ++m) {
      for (const std::uint32_t list : lists_of(source[m], target[m])) ++count_[list];
    }
  }

  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    std::fill(load_.begin(), load_.end(), 0.0);
    for_each_list([&](std::size_t list) {
      const std::span<const std::uint32_t> cells = lists_.cells_of(list);
      const double* const part = lists_.parts_of(list).data();
      const auto messages = static_cast<double>(count_[list]);
      for (std::size_t k = 0; k < cells.size(); ++k) load_[cells[k]] += messages * part[k];
    });
    const double most = round_load(load_.data(), unit, parts_.data(), load_.size());
    const std::uint32_t* const cell = lists_.cell_of_channel().data();
    for (std::size_t c = 0; c < parts.size(); ++c) parts[c] = parts_[cell[c]];
    return most;
  }

  void find(const std::uint32_t* number) {
    for (std::size_t cell = 1; cell < number_.size(); ++cell) {
      number_[cell] = number[channel_[cell]];
    }
    find_largest(number_, worst_);
    if (seconds_.empty()) return;
    for (std::size_t cell = 0; cell < load_.size(); ++cell) {
      time_[cell] = load_[cell] * seconds_[cell];
    }
    find_largest(time_, slowest_);
  }

  template <class Visit>
  void for_each_of(Place source, Place target, const Visit& visit) const {
    for (const std::uint32_t list : lists_of(source, target)) visit(list);
  }

 private:
  static constexpr std::size_t kListsAtOnce = 1024;

  const PartLists::OfMessage& lists_of(Place source, Place target) const {
    return lists_.of_pair(row_[target] + leaf_[source]);
  }
  /// Those that messages have; list 0 is empty, and stays at nothing.
  template <class Visit>
  void for_each_list(const Visit& visit) const {
    for (std::size_t list = 1; list < count_.size(); ++list) {
      if (list % kListsAtOnce == 1) check_interruption();
      if (count_[list] > 0) visit(list);
    }
  }
  template <class Value>
  void find_largest(const std::vector<Value>& of_cells, std::vector<Value>& of_lists) const {
    for_each_list([&](std::size_t list) {
      Value most = 0;
      for (const std::uint32_t cell : lists_.cells_of(list)) most = std::max(most, of_cells[cell]);
      of_lists[list] = most;
    });
  }

  const PartLists& lists_;
  std::vector<std::uint32_t> leaf_;   ///< of every place
  std::vector<std::size_t> row_;      ///< of every place as a target: where its pairs begin
  std::vector<std::uint32_t> parts_;  ///< by cell, as those that follow
  std::vector<std::uint32_t> number_;
  std::vector<std::size_t> channel_;  ///< one of each cell
  std::vector<double> time_;
};

}  // namespace contend
