#include "contend/routes/resolvers/hashed_resolver.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace contend {

namespace {

class HashedResolver final : public WrittenResolver<HashedResolver> {
 public:
  HashedResolver(const Fabric& fabric, const Places& places, NextHops next, const Hashing& hashing)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(),
                        std::max<std::size_t>(next.hops, 1) * hashing.flows, hashing.flows),
        hashing_(hashing),
        hops_(std::max<std::size_t>(next.hops, 1)),
        switches_(fabric.switches()),
        hosts_(places.hosts),
        next_(std::move(next)) {
    for (const HostId host : hosts_) at_.push_back(fabric.host_switch(host));
    for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
      to_.push_back(fabric.channel_to(channel));
    }
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return (next_.set_of.size() + next_.first.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size()) * sizeof(ChannelId);
  }

 private:
  friend WrittenResolver<HashedResolver>;

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Out* channels) const {
    const Hashes hashes(draw, hashing_.alike);
    // Known when it is compiled, one flow costs what it did alone.
    if (hashing_.flows == 1) return write_flows<1>(source, target, hashes, channels);
    write_flows<0>(source, target, hashes, channels);
  }

  template <std::size_t Flows, class Out>
  void write_flows(std::span<const Place> source, std::span<const Place> target,
                   const Hashes& hashes, Out* channels) const {
    const std::size_t flows = Flows > 0 ? Flows : hashing_.flows;
    const std::size_t hops = hops_;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const SwitchId end = at_[target[m]];
      const std::uint32_t* sets = next_.set_of.data() + next_.row_of[target[m]] * switches_;
      for (std::size_t number = 0; number < flows; ++number, channels += hops) {
        const std::uint64_t flow = hashes.of_flow(hosts_[source[m]], hosts_[target[m]], number);
        std::size_t hop = 0;
        for (SwitchId s = at_[source[m]]; s != end; ++hop) {
          const std::span<const ChannelId> set = next_.of_set(sets[s]);
          const ChannelId channel = set[hashes.choose(flow, s, set.size())];
          channels[hop] = static_cast<Out>(channel);
          s = to_[channel];
        }
        for (; hop < hops; ++hop) {
          channels[hop] = static_cast<Out>(switch_channels() + (hop + 5 * m) % kPads);
        }
      }
    }
  }

  Hashing hashing_;
  std::size_t hops_;  ///< of the longest way of a flow
  std::size_t switches_;
  std::vector<HostId> hosts_;
  std::vector<SwitchId> at_;  ///< switch of every place
  std::vector<SwitchId> to_;  ///< where every channel ends
  NextHops next_;
};

}  // namespace

std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               NextHops next, const Hashing& hashing) {
  return std::make_unique<HashedResolver>(fabric, places, std::move(next), hashing);
}

}  // namespace contend
