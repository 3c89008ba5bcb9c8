#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "contend/fabric/fabric.hpp"
#include "contend/fabric/grid.hpp"

namespace contend {

/// The channels that begin a shortest way on a grid, in order of ports: the sets of next_hops()
/// without their memory. A way is shortest that goes the shorter way along every line, whatever
/// line it takes first. Borrows the grid.
class GridHops {
 public:
  /// A switch.
  using At = SwitchId;
  using Step = Grid::Hop;

  /// The hops out of a switch that lead nearer: some next to each other along each dimension.
  class Ways {
   public:
    std::size_t size() const { return size_; }
    const Step& operator[](std::size_t k) const {
      const Some* some = some_.data();
      while (k >= some->count) k -= some++->count;
      return some->first[k];
    }

   private:
    friend GridHops;
    struct Some {
      const Step* first;
      std::uint32_t count;
    };

    void clear() { last_ = size_ = 0; }
    void add(const Step* first, std::uint32_t count) {
      some_[last_++] = {first, count};
      size_ += count;
    }

    // Switches are numbered in 32 bits.
    std::array<Some, 32> some_{};
    std::size_t last_ = 0;
    std::size_t size_ = 0;
  };

  explicit GridHops(const Grid& grid) : grid_(&grid) {}

  At at(SwitchId s) const { return s; }
  SwitchId switch_of(At at) const { return at; }
  std::size_t longest(const Fabric& fabric, std::span<const HostId> hosts) const {
    return grid_->longest(fabric, hosts);
  }
  void find(At from, At to, Ways& ways) const {
    ways.clear();
    const std::uint16_t* const here = grid_->at(from);
    const std::uint16_t* const there = grid_->at(to);
    for (std::size_t d = 0; d < grid_->dimensions().size(); ++d) {
      if (here[d] == there[d]) continue;
      const Grid::Slots slots = Grid::towards(grid_->dimensions()[d], here[d], there[d]);
      ways.add(&grid_->hop(from, slots.first), slots.count);
    }
  }
  Step step(At, const Step& way) const { return way; }
  std::size_t bytes() const { return grid_->bytes(); }

 private:
  const Grid* grid_;
};

}  // namespace contend
