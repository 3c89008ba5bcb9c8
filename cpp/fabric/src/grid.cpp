#include "contend/fabric/grid.hpp"

#include <algorithm>
#include <limits>

#include "contend/base/interruption.hpp"

namespace contend {

/// Reads the dimensions from the ports of the first switches, and refuses the first port that such
/// a grid would not have.
class GridReader {
 public:
  explicit GridReader(const Fabric& fabric) : fabric_(fabric) {}

  std::unique_ptr<Grid> run() {
    if (fabric_.cables() == 0) return nullptr;
    const std::vector<Grid::Hop> ports = hops_of(0);
    if (ports.empty() || !(is_hypercube(ports) || find_dimensions(ports))) return nullptr;
    std::size_t channels = 0;
    for (Grid::Dimension& dimension : grid_->dimensions_) {
      dimension.first = grid_->width_;
      grid_->width_ += dimension.slots();
      channels += fabric_.switches() * dimension.slots();
      if (dimension.line == Line::path) channels -= 2 * fabric_.switches() / dimension.size;
    }
    // So what is kept of it takes no more memory than the fabric.
    if (channels != fabric_.switch_channels()) return nullptr;
    grid_->hops_.assign(fabric_.switches() * grid_->width_, {kNoChannel, kNoSwitch});
    for (SwitchId s = 0; s < fabric_.switches(); ++s) {
      if (s % 4096 == 0) check_interruption();
      if (!take(s)) return nullptr;
    }
    return std::move(grid_);
  }

 private:
  using Line = Grid::Line;

  /// By port.
  std::vector<Grid::Hop> hops_of(SwitchId s) const {
    std::vector<Grid::Hop> hops;
    for (PortNumber port = 1; port <= fabric_.switch_ports(s); ++port) {
      const ChannelId channel = fabric_.out(s, port);
      if (channel == kNoChannel || !fabric_.is_switch_channel(channel)) continue;
      hops.push_back({channel, fabric_.channel_to(channel)});
    }
    return hops;
  }

  void add(std::uint32_t size, std::uint32_t stride, std::uint32_t links, Line line) {
    grid_->dimensions_.push_back({size, stride, links, line, 0});
  }

  /// The first coordinate runs fastest there, and elsewhere the last.
  bool is_hypercube(const std::vector<Grid::Hop>& ports) {
    if (ports.size() >= 32 || fabric_.switches() != std::size_t{1} << ports.size()) return false;
    for (std::size_t bit = 0; bit < ports.size(); ++bit) {
      if (ports[bit].to != std::size_t{1} << bit) return false;
    }
    for (std::uint32_t bit = 0; bit < ports.size(); ++bit) add(2, 1U << bit, 1, Line::full);
    return true;
  }

  /// By what the ports of the first switch lead to, whose coordinates are all 0.
  bool find_dimensions(const std::vector<Grid::Hop>& ports) {
    std::size_t inside = fabric_.switches(), port = 0;
    const auto leads_to = [&](std::size_t k, std::size_t s) {
      return k < ports.size() && ports[k].to == s;
    };
    while (inside > 1) {
      if (port == ports.size()) return false;
      const SwitchId stride = ports[port].to;
      if (stride == 0 || inside % stride != 0) return false;
      const std::size_t size = inside / stride;
      if (size < 2 || size > std::numeric_limits<std::uint16_t>::max()) return false;
      std::size_t links = 1;
      while (leads_to(port + links, stride)) ++links;
      if (links > std::numeric_limits<std::uint8_t>::max()) return false;
      Line line = Line::path;
      if (size == 2 || links > 1 || is_full(port, size, stride)) {
        line = Line::full;
      } else if (leads_to(port + 1, (size - 1) * stride)) {
        line = Line::ring;
      }
      add(static_cast<std::uint32_t>(size), stride, static_cast<std::uint32_t>(links), line);
      port += line == Line::full ? (size - 1) * links : line == Line::ring ? 2 : 1;
      inside = stride;
    }
    return port == ports.size();
  }

  /// Of lines of at least three: the second switch has ports to the first and then to the third,
  /// where a ring has them the other way round.
  bool is_full(std::size_t port, std::size_t size, SwitchId stride) const {
    const std::vector<Grid::Hop> ports = hops_of(stride);
    return port + size - 2 < ports.size() && ports[port].to == 0 &&
           ports[port + 1].to == 2 * stride;
  }

  /// Whether a switch has the ports that it should.
  bool take(SwitchId s) {
    const std::vector<Grid::Hop> ports = hops_of(s);
    std::size_t port = 0;
    const auto leads = [&](const Grid::Dimension& dimension, std::uint32_t slot, std::uint32_t from,
                           std::uint32_t to) {
      const SwitchId peer = s - from * dimension.stride + to * dimension.stride;
      if (port == ports.size() || ports[port].to != peer) return false;
      grid_->hops_[s * grid_->width_ + slot] = ports[port++];
      return true;
    };
    for (const Grid::Dimension& dimension : grid_->dimensions_) {
      const std::uint32_t size = dimension.size, from = s / dimension.stride % size;
      grid_->coordinates_.push_back(static_cast<std::uint16_t>(from));
      std::uint32_t slot = dimension.first;
      if (dimension.line == Line::full) {
        for (std::uint32_t to = 0; to < size; ++to) {
          for (std::uint32_t copy = 0; to != from && copy < dimension.links; ++copy) {
            if (!leads(dimension, slot++, from, to)) return false;
          }
        }
        continue;
      }
      const bool ring = dimension.line == Line::ring;
      if (ring || from + 1 < size) {
        if (!leads(dimension, slot, from, from + 1 < size ? from + 1 : 0)) return false;
      }
      if (ring || from > 0) {
        if (!leads(dimension, slot + 1, from, from > 0 ? from - 1 : size - 1)) return false;
      }
    }
    return port == ports.size();
  }

  const Fabric& fabric_;
  std::unique_ptr<Grid> grid_ = std::make_unique<Grid>();
};

std::size_t Grid::longest(const Fabric& fabric, std::span<const HostId> hosts) const {
  std::size_t longest = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& dimension = dimensions_[d];
    std::uint32_t low = dimension.size, high = 0;
    for (const HostId host : hosts) {
      const std::uint32_t here = at(fabric.host_switch(host))[d];
      low = std::min(low, here);
      high = std::max(high, here);
    }
    if (low >= high) continue;
    const std::uint32_t apart = high - low;
    const bool ring = dimension.line == Line::ring;
    longest += dimension.line == Line::full ? 1
               : ring                       ? std::min(apart, dimension.size / 2)
                                            : apart;
  }
  return longest;
}

std::unique_ptr<Grid> find_grid(const Fabric& fabric) { return GridReader(fabric).run(); }

}  // namespace contend
