#include "contend/routes/hashed_resolver.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/routes/unreachable.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

/// Every bit of the result depends on every bit of the number (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
  number = (number ^ number >> 27) * 0x94D049BB133111EBu;
  return number ^ number >> 31;
}

class HashedResolver final : public Resolver {
 public:
  HashedResolver(const Fabric& fabric, const Places& places, std::vector<SwitchId> leaves,
                 std::vector<std::uint32_t> set_of, std::vector<std::uint32_t> first,
                 std::vector<ChannelId> members, std::size_t hops)
      : Resolver(places.hosts.size(), fabric.switch_channels(), std::max<std::size_t>(hops, 1)),
        switches_(fabric.switches()),
        hosts_(places.hosts),
        set_of_(std::move(set_of)),
        first_(std::move(first)),
        members_(std::move(members)) {
    std::vector<std::uint32_t> number(switches_, 0);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      number[leaves[leaf]] = static_cast<std::uint32_t>(leaf);
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
    return (set_of_.size() + first_.size()) * sizeof(std::uint32_t) +
           (members_.size() + to_.size()) * sizeof(ChannelId);
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
    const std::uint64_t salt = mixed(draw + 0x9E3779B97F4A7C15u);
    for (std::size_t m = 0; m < source.size(); ++m, channels += stride()) {
      const std::uint64_t pair =
          static_cast<std::uint64_t>(hosts_[source[m]]) << 32 | hosts_[target[m]];
      const std::uint64_t flow = mixed(salt ^ pair);
      const SwitchId end = at_[target[m]];
      const std::uint32_t* sets = set_of_.data() + leaf_[target[m]] * switches_;
      std::size_t hop = 0;
      for (SwitchId s = at_[source[m]]; s != end; ++hop) {
        const std::uint32_t set = sets[s];
        const std::uint64_t count = first_[set + 1] - first_[set];
        // A hash of 32 bits, spread over the count without a division.
        const std::uint64_t hash = mixed(flow + s * 0x9E3779B97F4A7C15u) >> 32;
        const ChannelId channel = members_[first_[set] + (hash * count >> 32)];
        channels[hop] = static_cast<Out>(channel);
        s = to_[channel];
      }
      for (; hop < stride(); ++hop) {
        channels[hop] = static_cast<Out>(switch_channels() + (hop + 5 * m) % kPads);
      }
    }
  }

  std::size_t switches_;
  std::vector<HostId> hosts_;
  std::vector<SwitchId> at_;           ///< switch of every place
  std::vector<std::uint32_t> leaf_;    ///< its number among the switches with places
  std::vector<SwitchId> to_;           ///< where every channel ends
  std::vector<std::uint32_t> set_of_;  ///< by leaf and switch: which set of channels leads there
  std::vector<std::uint32_t> first_;   ///< where every set begins among the members
  std::vector<ChannelId> members_;
};

/// Sets of channels, each kept once: most targets share theirs.
class Sets {
 public:
  std::uint32_t add(const std::vector<ChannelId>& channels) {
    std::uint64_t key = channels.size();
    for (const ChannelId channel : channels) key = mixed(key ^ channel) + 1;
    const auto [begin, end] = known_.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      const auto from = members.begin() + first[it->second];
      if (first[it->second + 1] - first[it->second] == channels.size() &&
          std::equal(channels.begin(), channels.end(), from)) {
        return it->second;
      }
    }
    const auto set = static_cast<std::uint32_t>(first.size() - 1);
    members.insert(members.end(), channels.begin(), channels.end());
    first.push_back(static_cast<std::uint32_t>(members.size()));
    known_.emplace(key, set);
    return set;
  }

  std::vector<std::uint32_t> first{0};
  std::vector<ChannelId> members;

 private:
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

/// Cables from every switch to one of them; kFar where no way leads there.
std::vector<std::uint32_t> distances(const Fabric& fabric, SwitchId to) {
  std::vector<std::uint32_t> distance(fabric.switches(), kFar);
  std::vector<SwitchId> queue{to};
  distance[to] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const SwitchId s = queue[next];
    for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
      const ChannelId channel = fabric.out(s, port);
      if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
      const SwitchId peer = fabric.channel_to(channel);
      if (distance[peer] != kFar) continue;
      distance[peer] = distance[s] + 1;
      queue.push_back(peer);
    }
  }
  return distance;
}

}  // namespace

std::unique_ptr<Resolver> make_hashed_resolver(const Fabric& fabric, const Places& places) {
  std::vector<SwitchId> leaves;
  for (const HostId host : places.hosts) leaves.push_back(fabric.host_switch(host));
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());

  Sets sets;
  std::vector<std::uint32_t> set_of(leaves.size() * fabric.switches(), 0);
  std::vector<ChannelId> towards;
  std::size_t hops = 0;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const std::vector<std::uint32_t> distance = distances(fabric, leaves[leaf]);
    for (const HostId host : places.hosts) {
      const std::uint32_t away = distance[fabric.host_switch(host)];
      if (away == kFar) {
        const auto there =
            std::find_if(places.hosts.begin(), places.hosts.end(),
                         [&](HostId other) { return fabric.host_switch(other) == leaves[leaf]; });
        const SwitchId from = fabric.host_switch(host);
        throw UnreachableError(*there, 0, from, from, "has no way there");
      }
      hops = std::max<std::size_t>(hops, away);
    }
    for (SwitchId s = 0; s < fabric.switches(); ++s) {
      if (distance[s] == kFar || distance[s] == 0) continue;
      towards.clear();
      for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
        const ChannelId channel = fabric.out(s, port);
        if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
        if (distance[fabric.channel_to(channel)] + 1 == distance[s]) towards.push_back(channel);
      }
      set_of[leaf * fabric.switches() + s] = sets.add(towards);
    }
  }
  return std::make_unique<HashedResolver>(fabric, places, std::move(leaves), std::move(set_of),
                                          std::move(sets.first), std::move(sets.members), hops);
}

}  // namespace contend
