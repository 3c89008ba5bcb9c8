#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "contend/routes/resolvers/hashed_resolver.hpp"

namespace contend {

/// The hashed shortest ways of make_hashed_resolver() where `Hops` compute what leads nearer, in
/// order of ports: at every switch the same number of channels, in the same order.
///
/// Hops say at(switch) and switch_of(at), find(at, to, ways) the ways out of a switch that lead
/// nearer, step(at, way) the channel of one and where it leads, and longest(fabric, hosts)
/// how many channels a way between some of these crosses at most.
template <class Hops>
class HashedHops final : public WrittenResolver<HashedHops<Hops>> {
 public:
  HashedHops(const Fabric& fabric, const Places& places, Hops hops, const Hashing& hashing)
      : WrittenResolver<HashedHops>(
            places.hosts.size(), fabric.switch_channels(),
            std::max<std::size_t>(hops.longest(fabric, places.hosts), 1) * hashing.flows,
            hashing.flows),
        hashing_(hashing),
        hops_(std::move(hops)),
        hosts_(places.hosts) {
    for (const HostId host : hosts_) at_.push_back(hops_.at(fabric.host_switch(host)));
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return hops_.bytes() + hosts_.size() * sizeof(HostId) + at_.size() * sizeof(At);
  }

 private:
  friend WrittenResolver<HashedHops>;
  using At = typename Hops::At;

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Out* channels) const {
    const Hashes hashes(draw, hashing_.alike);
    const std::size_t length = this->stride() / hashing_.flows;
    typename Hops::Ways ways;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const At end = at_[target[m]];
      for (std::uint32_t number = 0; number < hashing_.flows; ++number, channels += length) {
        const std::uint64_t flow = hashes.of_flow(hosts_[source[m]], hosts_[target[m]], number);
        std::size_t hop = 0;
        for (At at = at_[source[m]]; at != end; ++hop) {
          hops_.find(at, end, ways);
          const auto way = ways[hashes.choose(flow, hops_.switch_of(at), ways.size())];
          const auto step = hops_.step(at, way);
          channels[hop] = static_cast<Out>(step.channel);
          at = step.to;
        }
        for (; hop < length; ++hop) {
          channels[hop] = static_cast<Out>(this->switch_channels() + (hop + 5 * m) % kPads);
        }
      }
    }
  }

  Hashing hashing_;
  Hops hops_;
  std::vector<HostId> hosts_;
  std::vector<At> at_;  ///< switch of every place
};

}  // namespace contend
