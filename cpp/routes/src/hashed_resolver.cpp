#include "contend/routes/hashed_resolver.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/mixed.hpp"
#include "contend/routes/unreachable.hpp"

namespace contend {

namespace {

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u;
constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

class HashedResolver final : public Resolver {
 public:
  HashedResolver(const Fabric& fabric, const Places& places, NextHops next, const Hashing& hashing)
      : Resolver(places.hosts.size(), fabric.switch_channels(),
                 std::max<std::size_t>(next.hops, 1) * hashing.flows, hashing.flows),
        hashing_(hashing),
        hops_(std::max<std::size_t>(next.hops, 1)),
        switches_(fabric.switches()),
        hosts_(places.hosts),
        next_(std::move(next)) {
    std::vector<std::uint32_t> number(switches_, 0);
    for (std::size_t leaf = 0; leaf < next_.leaves.size(); ++leaf) {
      number[next_.leaves[leaf]] = static_cast<std::uint32_t>(leaf);
    }
    for (const HostId host : hosts_) {
      at_.push_back(fabric.host_switch(host));
      leaf_.push_back(number[at_.back()]);
    }
    for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
      to_.push_back(fabric.channel_to(channel));
    }
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return (next_.set_of.size() + next_.first.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size()) * sizeof(ChannelId);
  }

  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint16_t* channels) const override {
    walk(source, target, 0, channels);
  }
  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint32_t* channels) const override {
    walk(source, target, 0, channels);
  }
  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint16_t* channels) const override {
    walk(source, target, draw, channels);
  }
  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint32_t* channels) const override {
    walk(source, target, draw, channels);
  }

 private:
  template <class Out>
  void walk(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
            Out* channels) const {
    const std::uint64_t salt = mixed(draw + kOdd);
    // Known when it is compiled, one flow costs what it did alone.
    if (hashing_.flows == 1) return walk_flows<1>(source, target, salt, channels);
    walk_flows<0>(source, target, salt, channels);
  }

  template <std::size_t Flows, class Out>
  void walk_flows(std::span<const Place> source, std::span<const Place> target, std::uint64_t salt,
                  Out* channels) const {
    const std::size_t flows = Flows > 0 ? Flows : hashing_.flows;
    const std::uint64_t odd = hashing_.alike ? 0 : kOdd;
    const std::size_t hops = hops_;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const std::uint64_t pair =
          static_cast<std::uint64_t>(hosts_[source[m]]) << 32 | hosts_[target[m]];
      const SwitchId end = at_[target[m]];
      const std::uint32_t* sets = next_.set_of.data() + leaf_[target[m]] * switches_;
      for (std::size_t number = 0; number < flows; ++number, channels += hops) {
        const std::uint64_t flow = mixed((salt ^ pair) + number * kOdd);
        std::size_t hop = 0;
        for (SwitchId s = at_[source[m]]; s != end; ++hop) {
          const std::span<const ChannelId> set = next_.of_set(sets[s]);
          // A hash of 32 bits, spread over the count without a division.
          const std::uint64_t hash = mixed(flow + s * odd) >> 32;
          const ChannelId channel = set[hash * set.size() >> 32];
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
  std::vector<SwitchId> at_;         ///< switch of every place
  std::vector<std::uint32_t> leaf_;  ///< its number among the switches with places
  std::vector<SwitchId> to_;         ///< where every channel ends
  NextHops next_;
};

/// Finds the number of a set of channels among those that are there, or adds it.
class Sets {
 public:
  explicit Sets(NextHops& next) : next_(next) {}

  std::uint32_t number(const std::vector<ChannelId>& channels) {
    std::uint64_t key = channels.size();
    for (const ChannelId channel : channels) key = mixed(key ^ channel) + 1;
    const auto [begin, end] = known_.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      const std::span<const ChannelId> known = next_.of_set(it->second);
      if (std::equal(channels.begin(), channels.end(), known.begin(), known.end())) {
        return it->second;
      }
    }
    const auto set = static_cast<std::uint32_t>(next_.first.size() - 1);
    next_.members.insert(next_.members.end(), channels.begin(), channels.end());
    next_.first.push_back(static_cast<std::uint32_t>(next_.members.size()));
    known_.emplace(key, set);
    return set;
  }

 private:
  NextHops& next_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

/// Cables from every switch to one of them; kFar where no way leads there.
std::vector<std::uint32_t> distances(const Fabric& fabric, SwitchId to,
                                     std::span<const std::uint8_t> died) {
  std::vector<std::uint32_t> distance(fabric.switches(), kFar);
  std::vector<SwitchId> queue{to};
  distance[to] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const SwitchId s = queue[next];
    for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
      const ChannelId channel = fabric.out(s, port);
      if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
      if (!died.empty() && died[channel] != 0) continue;
      const SwitchId peer = fabric.channel_to(channel);
      if (distance[peer] != kFar) continue;
      distance[peer] = distance[s] + 1;
      queue.push_back(peer);
    }
  }
  return distance;
}

}  // namespace

NextHops next_hops(const Fabric& fabric, const Places& places, const Remains* rest) {
  NextHops next;
  std::vector<SwitchId>& leaves = next.leaves;
  std::span<const std::uint8_t> died;
  std::vector<HostId> hosts = places.hosts;
  if (rest != nullptr) {
    died = rest->channel_died;
    std::erase_if(hosts, [&](HostId host) { return rest->host_gone[host] != 0; });
  }
  for (const HostId host : hosts) leaves.push_back(fabric.host_switch(host));
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());

  Sets sets(next);
  next.set_of.assign(leaves.size() * fabric.switches(), 0);
  std::vector<ChannelId> towards;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    check_interruption();
    const std::vector<std::uint32_t> distance = distances(fabric, leaves[leaf], died);
    for (const HostId host : hosts) {
      const std::uint32_t away = distance[fabric.host_switch(host)];
      if (away == kFar) {
        const auto there = std::find_if(hosts.begin(), hosts.end(), [&](HostId other) {
          return fabric.host_switch(other) == leaves[leaf];
        });
        const SwitchId from = fabric.host_switch(host);
        throw UnreachableError(*there, 0, from, from, "has no way there");
      }
      next.hops = std::max<std::size_t>(next.hops, away);
    }
    for (SwitchId s = 0; s < fabric.switches(); ++s) {
      if (distance[s] == kFar || distance[s] == 0) continue;
      towards.clear();
      for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
        const ChannelId channel = fabric.out(s, port);
        if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
        if (!died.empty() && died[channel] != 0) continue;
        if (distance[fabric.channel_to(channel)] + 1 == distance[s]) towards.push_back(channel);
      }
      next.set_of[leaf * fabric.switches() + s] = sets.number(towards);
    }
  }
  return next;
}

std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places,
                                               const Hashing& hashing, const Remains* rest) {
  return std::make_unique<HashedResolver>(fabric, places, next_hops(fabric, places, rest), hashing);
}

}  // namespace contend
