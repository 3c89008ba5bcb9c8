#include <algorithm>

#include "columns.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

namespace {

/// Messages walked in step: enough for their cache misses to overlap.
constexpr std::size_t kTogether = 32;

class WalkingResolver final : public Resolver {
 public:
  WalkingResolver(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                  const Places& places, std::size_t hops)
      : Resolver(places.hosts.size(), fabric.switch_channels(), std::max<std::size_t>(hops, 1)),
        fabric_(fabric),
        tables_(tables),
        columns_(fabric, addresses, places) {
    leaf_.reserve(places.hosts.size());
    for (const HostId host : places.hosts) leaf_.push_back(fabric.host_switch(host));
  }

  std::size_t bytes() const override { return 0; }

  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint16_t* channels) const override {
    walk(source, target, channels);
  }
  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint32_t* channels) const override {
    walk(source, target, channels);
  }

 private:
  struct Walker {
    std::size_t message;
    SwitchId at;
    Address address;
    const PortNumber* entry;
  };

  const PortNumber* look_ahead(SwitchId at, Address address) const {
    const PortNumber* entry = tables_.ports + at * tables_.addresses + address;
    __builtin_prefetch(entry);
    return entry;
  }

  template <class Out>
  void walk(std::span<const Place> source, std::span<const Place> target, Out* channels) const {
    for (std::size_t first = 0; first < source.size(); first += kTogether) {
      Walker walkers[kTogether];
      std::size_t walking = 0;
      const std::size_t last = std::min(first + kTogether, source.size());
      for (std::size_t m = first; m < last; ++m) {
        const SwitchId at = leaf_[source[m]];
        const Address address = columns_.address(columns_.column(source[m], target[m]));
        walkers[walking++] = {m, at, address, look_ahead(at, address)};
      }
      walk_in_step(walkers, walking, channels);
    }
  }

  template <class Out>
  void walk_in_step(Walker* walkers, std::size_t walking, Out* channels) const {
    for (std::size_t hop = 0; walking > 0 && hop <= stride(); ++hop) {
      std::size_t still = 0;
      for (std::size_t w = 0; w < walking; ++w) {
        Walker walker = walkers[w];
        const ChannelId channel = fabric_.out(walker.at, *walker.entry);
        Out* route = channels + walker.message * stride();
        if (!fabric_.is_switch_channel(channel)) {
          for (std::size_t k = hop; k < stride(); ++k) {
            route[k] = static_cast<Out>(switch_channels() + (k + 5 * walker.message) % kPads);
          }
          continue;
        }
        route[hop] = static_cast<Out>(channel);
        walker.at = fabric_.channel_to(channel);
        walker.entry = look_ahead(walker.at, walker.address);
        walkers[still++] = walker;
      }
      walking = still;
    }
  }

  const Fabric& fabric_;
  TableView tables_;
  PlaceColumns columns_;
  std::vector<SwitchId> leaf_;
};

}  // namespace

std::unique_ptr<Resolver> make_walking_resolver(const Fabric& fabric, const TableView& tables,
                                                const AddressView& addresses,
                                                const Places& places) {
  const std::size_t hops = longest_route(fabric, tables, addresses, places);
  return std::make_unique<WalkingResolver>(fabric, tables, addresses, places, hops);
}

}  // namespace contend
