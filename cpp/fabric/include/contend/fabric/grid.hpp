#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"

namespace contend {

/// A grid of which nothing is missing: a torus, mesh, ring, hypercube or HyperX, with any hosts on
/// its switches. Switches are numbered dimension by dimension, and their ports lead along one
/// dimension after the other: on rings and paths first to the next switch, then to the previous
/// one; on full lines to all others in their order.
///
/// (Dally, Towles, Principles and practices of interconnection networks, 2004, chapter 5; Ahn,
/// Binkert, Davis, McLaren, Schreiber, HyperX, SC 2009.)
class Grid {
 public:
  /// How the switches of a line are joined.
  enum class Line : std::uint8_t { path, ring, full };
  struct Dimension {
    std::uint32_t size;    ///< switches of a line; of two they make a full one
    std::uint32_t stride;  ///< between the numbers of neighbours
    std::uint32_t links;   ///< cables between two neighbours; 1 on rings and paths
    Line line;
    std::uint32_t first;  ///< slot, the others follow

    std::uint32_t slots() const { return line == Line::full ? (size - 1) * links : 2; }
  };
  /// A channel out of a switch, and where it leads.
  struct Hop {
    ChannelId channel;
    SwitchId to;
  };
  /// Channels next to each other by port.
  struct Slots {
    std::uint32_t first;
    std::uint32_t count;
  };

  /// In the order of their ports.
  std::span<const Dimension> dimensions() const { return dimensions_; }
  std::size_t switches() const { return coordinates_.size() / dimensions_.size(); }
  /// Those of a switch, by dimension.
  const std::uint16_t* at(SwitchId s) const { return coordinates_.data() + s * dimensions_.size(); }
  const Hop& hop(SwitchId s, std::uint32_t slot) const { return hops_[s * width_ + slot]; }
  /// What leads nearer along a line from one coordinate to another.
  static Slots towards(const Dimension& dimension, std::uint32_t from, std::uint32_t to) {
    if (from == to) return {dimension.first, 0};
    if (dimension.line == Line::full) {
      return {dimension.first + (to < from ? to : to - 1) * dimension.links, dimension.links};
    }
    if (dimension.line == Line::path) return {dimension.first + (to < from ? 1U : 0U), 1};
    const std::uint32_t ahead = to > from ? to - from : to + dimension.size - from;
    const std::uint32_t back = dimension.size - ahead;
    return {dimension.first + (ahead > back ? 1U : 0U), ahead == back ? 2U : 1U};
  }
  /// No shortest way between some hosts crosses more channels.
  std::size_t longest(const Fabric& fabric, std::span<const HostId> hosts) const;
  std::size_t bytes() const {
    return coordinates_.size() * sizeof(std::uint16_t) + hops_.size() * sizeof(Hop);
  }

 private:
  friend class GridReader;

  std::vector<Dimension> dimensions_;
  std::uint32_t width_ = 0;                 ///< slots of a switch
  std::vector<std::uint16_t> coordinates_;  ///< by switch and dimension
  std::vector<Hop> hops_;                   ///< by switch and slot; none beyond the ends of a path
};

/// The fabric as a grid; null where it is none, or is numbered otherwise.
/// Cost: one look at every port.
std::unique_ptr<Grid> find_grid(const Fabric& fabric);

}  // namespace contend
