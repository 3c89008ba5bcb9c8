#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "contend/fabric/grid.hpp"

namespace contend {

/// The switches on all shortest ways to one of a grid, each before those that its ways lead to.
///
/// Every dimension has its coordinates in such an order, and a switch is a choice of one for each:
/// so what begins at a switch is a few channels for every dimension, whatever the others are.
/// Cost: that of the channels. Borrows the grid.
class GridBox {
 public:
  explicit GridBox(const Grid& grid) : grid_(&grid) {}

  /// From one switch.
  void lead(SwitchId from, SwitchId to) {
    stands_.clear();
    for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
      const Grid::Dimension& dimension = grid_->dimensions()[d];
      lines_[d].first = stands_.size();
      met_.assign(1, grid_->at(from)[d]);
      for (std::size_t k = 0; k < met_.size(); ++k) {
        // Two at most come later so far.
        const auto later = [&](std::uint32_t coordinate) {
          const auto next = met_.begin() + static_cast<std::ptrdiff_t>(k) + 1;
          const auto place =
              static_cast<std::uint32_t>(std::find(next, met_.end(), coordinate) - next);
          if (next + place == met_.end()) met_.push_back(coordinate);
          return place + 1;
        };
        add(dimension, met_[k], grid_->at(to)[d], later);
      }
    }
    end_lines();
  }

  /// From all.
  void lead(SwitchId to) {
    stands_.clear();
    for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
      const Grid::Dimension& dimension = grid_->dimensions()[d];
      const std::uint32_t end = grid_->at(to)[d];
      lines_[d].first = stands_.size();
      met_.resize(dimension.size);
      std::iota(met_.begin(), met_.end(), 0U);
      std::ranges::sort(met_, std::greater<>(),
                        [&](std::uint32_t at) { return steps(dimension, at, end); });
      place_.resize(dimension.size);
      for (std::uint32_t k = 0; k < dimension.size; ++k) place_[met_[k]] = k;
      for (const std::uint32_t at : met_) {
        add(dimension, at, end, [&](std::uint32_t next) { return place_[next] - place_[at]; });
      }
    }
    end_lines();
  }

  std::size_t switches() const { return switches_; }
  /// Those that begin a way, of all switches together.
  std::size_t channels() const {
    std::size_t channels = 0;
    for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
      const Line& line = lines_[d];
      std::size_t along = 0;
      for (std::size_t k = 0; k < line.count; ++k) along += stands_[line.first + k].count;
      channels += switches_ / line.count * along;
    }
    return channels;
  }

 private:
  /// A coordinate.
  struct Stand {
    std::uint32_t offset = 0;  ///< in the number of a switch
    std::uint32_t slot = 0;    ///< the first that leads nearer
    std::uint32_t count = 0;   ///< how many do
    // How many coordinates later the one comes that the first leads to, and the others.
    std::uint32_t next = 0;
    std::uint32_t other = 0;
  };
  struct Line {
    std::size_t first = 0;  ///< of its coordinates
    std::size_t count = 0;
    std::size_t stride = 0;  ///< between the places of switches
  };
  /// Slots that lead nearer along a dimension, and how much later the switches come there.
  struct Open {
    std::uint32_t slot;
    std::uint32_t count;
    std::size_t next;
    std::size_t other;
  };

 public:
  class Node {
   public:
    SwitchId number() const { return number_; }
    /// Among switches(), in their order.
    std::size_t place() const { return place_; }
    /// How many channels lead nearer; none from the last switch.
    std::uint32_t ways() const { return ways_; }
    /// Visits each of these, with the place of the switch that it leads to.
    template <class Visit>
    void for_each_way(const Visit& visit) const {
      const Grid::Hop* const hops = &grid_->hop(number_, 0);
      for (const Open& open : open_) {
        visit(hops[open.slot].channel, place_ + open.next);
        for (std::uint32_t k = 1; k < open.count; ++k) {
          visit(hops[open.slot + k].channel, place_ + open.other);
        }
      }
    }

   private:
    friend GridBox;
    const Grid* grid_ = nullptr;
    SwitchId number_ = 0;
    std::size_t place_ = 0;
    std::uint32_t ways_ = 0;
    std::span<const Open> open_;
  };

  /// Visits all switches in their order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    begin<false>(visit);
  }
  template <class Visit>
  void for_each_backward(const Visit& visit) const {
    begin<true>(visit);
  }

 private:
  // Switches are numbered in 32 bits, and every dimension has two coordinates or more.
  static constexpr std::size_t kMost = 32;
  using AllOpen = std::array<Open, kMost>;

  /// Steps from a coordinate to another.
  static std::uint32_t steps(const Grid::Dimension& dimension, std::uint32_t from,
                             std::uint32_t to) {
    if (dimension.line == Grid::Line::full) return from == to ? 0 : 1;
    const std::uint32_t apart = from < to ? to - from : from - to;
    return dimension.line == Grid::Line::ring ? std::min(apart, dimension.size - apart) : apart;
  }

  /// Adds a coordinate to the line of a dimension, with what leads nearer to another; `later` says
  /// how much later one comes.
  template <class Later>
  void add(const Grid::Dimension& dimension, std::uint32_t at, std::uint32_t to,
           const Later& later) {
    const Grid::Slots slots = Grid::towards(dimension, at, to);
    Stand stand{at * dimension.stride, slots.first, slots.count, 0, 0};
    if (slots.count > 0) {
      const std::uint32_t ahead = at + 1 < dimension.size ? at + 1 : 0;
      const std::uint32_t back = at > 0 ? at - 1 : dimension.size - 1;
      const bool full = dimension.line == Grid::Line::full;
      stand.next = later(full ? to : slots.first == dimension.first ? ahead : back);
      stand.other = slots.count == 1 || full ? stand.next : later(back);
    }
    stands_.push_back(stand);
  }

  void end_lines() {
    switches_ = 1;
    std::size_t end = stands_.size();
    for (std::size_t d = grid_->dimensions().size(); d-- > 0;) {
      lines_[d].count = end - lines_[d].first;
      lines_[d].stride = switches_;
      switches_ *= lines_[d].count;
      end = lines_[d].first;
    }
  }

  template <bool Backward, class Visit>
  void begin(const Visit& visit) const {
    AllOpen open;
    Node node;
    node.grid_ = grid_;
    walk<Backward>(0, node, open, 0, visit);
  }
  /// Visits all switches with some coordinates in common: those of the dimensions before one.
  template <bool Backward, class Visit>
  void walk(std::size_t dimension, const Node& common, AllOpen& open, std::size_t opens,
            const Visit& visit) const {
    const Line& line = lines_[dimension];
    const bool last = dimension + 1 == grid_->dimensions().size();
    for (std::size_t k = 0; k < line.count; ++k) {
      const std::size_t among = Backward ? line.count - 1 - k : k;
      const Stand& stand = stands_[line.first + among];
      Node node = common;
      node.number_ += stand.offset;
      node.place_ += among * line.stride;
      node.ways_ += stand.count;
      open[opens] = {stand.slot, stand.count, stand.next * line.stride, stand.other * line.stride};
      const std::size_t more = opens + (stand.count > 0 ? 1 : 0);
      if (last) {
        node.open_ = {open.data(), more};
        visit(node);
      } else {
        walk<Backward>(dimension + 1, node, open, more, visit);
      }
    }
  }

  const Grid* grid_;
  std::array<Line, kMost> lines_;
  std::vector<Stand> stands_;  ///< of every line
  std::vector<std::uint32_t> met_;
  std::vector<std::uint32_t> place_;
  std::size_t switches_ = 0;
};

}  // namespace contend
