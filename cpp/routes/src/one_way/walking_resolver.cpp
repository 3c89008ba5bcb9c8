#include <algorithm>
#include <optional>

#include "columns.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

/// Messages walked in step: enough for their cache misses to overlap.
constexpr std::size_t kTogether = 64;

class WalkingResolver final : public WrittenResolver<WalkingResolver> {
 public:
  WalkingResolver(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                  const Places& places, std::size_t hops)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(),
                        std::max<std::size_t>(hops, 1)),
        tables_(tables),
        columns_(fabric, addresses, places) {
    if (!places.spread) trees_.emplace(fabric, tables, addresses, places);
    leaf_.reserve(places.hosts.size());
    for (const HostId host : places.hosts) leaf_.push_back(fabric.host_switch(host));
    first_step_.reserve(fabric.switches());
    for (SwitchId s = 0; s < fabric.switches(); ++s) {
      first_step_.push_back(steps_.size());
      for (PortNumber port = 0; port <= fabric.switch_ports(s); ++port) {
        const ChannelId channel = fabric.out(s, port);
        const bool on = channel != kNoChannel && fabric.is_switch_channel(channel);
        steps_.push_back({on ? channel : kNoChannel, on ? fabric.channel_to(channel) : s});
      }
    }
  }

  bool tabled() const override { return false; }
  const RouteTrees* trees() const override { return trees_ ? &*trees_ : nullptr; }
  std::size_t bytes() const override { return steps_.size() * sizeof(Step); }

 private:
  friend WrittenResolver<WalkingResolver>;

  /// What leaving a switch by a port comes to; kNoChannel where that leaves the network.
  struct Step {
    ChannelId channel;
    SwitchId to;
  };

  struct Walker {
    std::size_t message;
    SwitchId at;
    Address address;
    const PortNumber* entry;
    const Step* step;
  };

  void look_up_entry(Walker& walker) const {
    walker.entry = tables_.ports + walker.at * tables_.addresses + walker.address;
    __builtin_prefetch(walker.entry);
  }

  void look_up_step(Walker& walker) const {
    walker.step = steps_.data() + first_step_[walker.at] + *walker.entry;
    __builtin_prefetch(walker.step);
  }

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* channels) const {
    for (std::size_t first = 0; first < source.size(); first += kTogether) {
      Walker walkers[kTogether];
      std::size_t walking = 0;
      const std::size_t last = std::min(first + kTogether, source.size());
      for (std::size_t m = first; m < last; ++m) {
        const Address address = columns_.address(columns_.column(source[m], target[m]));
        Walker& walker = walkers[walking++];
        walker = {m, leaf_[source[m]], address, nullptr, nullptr};
        look_up_entry(walker);
      }
      walk_in_step(walkers, walking, channels);
    }
  }

  /// One memory access of every walker after the other, so that they overlap: first all table
  /// entries, then all steps that these lead to.
  template <class Out>
  void walk_in_step(Walker* walkers, std::size_t walking, Out* channels) const {
    for (std::size_t hop = 0; walking > 0; ++hop) {
      for (std::size_t w = 0; w < walking; ++w) look_up_step(walkers[w]);
      std::size_t still = 0;
      for (std::size_t w = 0; w < walking; ++w) {
        Walker walker = walkers[w];
        Out* route = channels + walker.message * stride();
        if (walker.step->channel == kNoChannel) {
          for (std::size_t k = hop; k < stride(); ++k) {
            route[k] = static_cast<Out>(switch_channels() + (k + 5 * walker.message) % kPads);
          }
          continue;
        }
        // All routes were followed before: none is longer than the stride.
        route[hop] = static_cast<Out>(walker.step->channel);
        walker.at = walker.step->to;
        look_up_entry(walker);
        walkers[still++] = walker;
      }
      walking = still;
    }
  }

  TableView tables_;
  PlaceColumns columns_;
  std::optional<RouteTrees> trees_;
  std::vector<SwitchId> leaf_;
  std::vector<std::size_t> first_step_;  ///< a switch's port 0 in steps_
  std::vector<Step> steps_;
};

}  // namespace

std::unique_ptr<Resolver> make_walking_resolver(const Fabric& fabric, const TableView& tables,
                                                const AddressView& addresses, const Places& places,
                                                std::optional<std::size_t> longest) {
  if (!longest) longest = longest_route(fabric, tables, addresses, places);
  return std::make_unique<WalkingResolver>(fabric, tables, addresses, places, *longest);
}

}  // namespace contend
