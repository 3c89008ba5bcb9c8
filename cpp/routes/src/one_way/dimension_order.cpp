#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/engines/balance.hpp"
#include "contend/routes/one_way/formulas.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

/// One dimension after the other, and of parallel cables one host after the other: those whose way
/// goes over the same cables share their coordinates up to that dimension, wherever they come from.
class DimensionOrder final : public WrittenResolver<DimensionOrder> {
 public:
  DimensionOrder(const Fabric& fabric, const Grid& grid, const Targets& targets,
                 const Places& places)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(),
                        std::max<std::size_t>(grid.longest(fabric, places.hosts), 1)),
        grid_(grid),
        turns_(std::ranges::any_of(grid.dimensions(), [](const auto& d) { return d.links > 1; })
                   ? grid.dimensions().size()
                   : 0),
        trees_(fabric, [this](SwitchId s, Place to) { return next(s, to); }, places) {
    for (const HostId host : places.hosts) at_.push_back(fabric.host_switch(host));
    if (turns_ > 0) find_turns(fabric, targets, places);
  }

  bool tabled() const override { return false; }
  const RouteTrees* trees() const override { return &trees_; }
  std::size_t bytes() const override {
    return grid_.bytes() + at_.size() * sizeof(SwitchId) + turn_.size() * sizeof(turn_[0]);
  }

 private:
  friend WrittenResolver<DimensionOrder>;

  void find_turns(const Fabric& fabric, const Targets& targets, const Places& places) {
    const std::vector<std::vector<HostId>> hosts = hosts_by_port(fabric, targets);
    const std::vector<SwitchId> order = by_hosts_and_guid(hosts, targets);
    std::vector<std::uint8_t> of_host(fabric.hosts() * turns_, 0);
    for (std::size_t d = 0; d < turns_; ++d) {
      const Grid::Dimension& dimension = grid_.dimensions()[d];
      if (dimension.links == 1) continue;
      // Lines of full grids are numbered from the first dimension down.
      std::vector<std::uint32_t> taken(fabric.switches() / dimension.stride, 0);
      for (const SwitchId s : order) {
        std::uint32_t& turn = taken[s / dimension.stride];
        for (const HostId host : hosts[s]) {
          of_host[host * turns_ + d] = static_cast<std::uint8_t>(turn);
          turn = turn + 1 == dimension.links ? 0 : turn + 1;
        }
      }
    }
    for (const HostId host : places.hosts) {
      const auto begin = of_host.begin() + static_cast<std::ptrdiff_t>(host * turns_);
      turn_.insert(turn_.end(), begin, begin + static_cast<std::ptrdiff_t>(turns_));
    }
  }

  /// The hop along a dimension in which two switches differ.
  const Grid::Hop& along(std::size_t d, SwitchId s, std::uint32_t to, Place target) const {
    const Grid::Dimension& dimension = grid_.dimensions()[d];
    const std::uint32_t slot = Grid::towards(dimension, grid_.at(s)[d], to).first;
    return grid_.hop(s, turns_ == 0 ? slot : slot + turn_[target * turns_ + d]);
  }

  Step next(SwitchId s, Place target) const {
    const std::uint16_t* const here = grid_.at(s);
    const std::uint16_t* const there = grid_.at(at_[target]);
    for (std::size_t d = 0; d < grid_.dimensions().size(); ++d) {
      if (here[d] == there[d]) continue;
      const Grid::Hop& hop = along(d, s, there[d], target);
      return {hop.channel, hop.to};
    }
    return {kNoChannel, TraceEnd::delivered};
  }

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* route) const {
    const std::size_t length = stride(), dimensions = grid_.dimensions().size();
    for (std::size_t m = 0; m < source.size(); ++m, route += length) {
      SwitchId s = at_[source[m]];
      const std::uint16_t* const there = grid_.at(at_[target[m]]);
      std::size_t hops = 0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        while (grid_.at(s)[d] != there[d]) {
          const Grid::Hop& hop = along(d, s, there[d], target[m]);
          route[hops++] = static_cast<Out>(hop.channel);
          s = hop.to;
        }
      }
      for (; hops < length; ++hops) {
        route[hops] = static_cast<Out>(switch_channels() + (hops + 5 * m) % kPads);
      }
    }
  }

  const Grid& grid_;
  std::size_t turns_;               ///< for each place: by dimension; none without parallel cables
  std::vector<SwitchId> at_;        ///< switch of every place
  std::vector<std::uint8_t> turn_;  ///< which of parallel cables a place's messages take
  RouteTrees trees_;
};

}  // namespace

std::unique_ptr<Resolver> make_dimension_order_resolver(const Fabric& fabric, const Grid& grid,
                                                        const Targets& targets,
                                                        const Places& places) {
  check_targets(fabric, targets);
  if (grid.switches() != fabric.switches()) throw Error("a grid that belongs to the fabric");
  for (const HostId host : places.hosts) {
    if (host >= fabric.hosts()) throw Error("host " + std::to_string(host) + " does not exist");
    if (targets.hosts.first[host] == 0) {
      throw Error("host " + std::to_string(host) + " has no address");
    }
  }
  return std::make_unique<DimensionOrder>(fabric, grid, targets, places);
}

}  // namespace contend
