#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  void lead(SwitchId from, SwitchId to);
  /// From all.
  void lead(SwitchId to);

  std::size_t switches() const { return switches_; }
  /// Those that begin a way, of all switches together.
  std::size_t channels() const;

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

  /// Adds a coordinate to the line of a dimension, with what leads nearer to another; `later` says
  /// how much later one comes.
  template <class Later>
  void add(const Grid::Dimension& dimension, std::uint32_t at, std::uint32_t to,
           const Later& later);
  void end_lines();

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
