#include "contend/routes/next_hops.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/mixed.hpp"
#include "contend/routes/unreachable.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

/// Finds the number of something among what is known by its key, or kFar.
template <class Same>
std::uint32_t find_known(const std::unordered_multimap<std::uint64_t, std::uint32_t>& known,
                         std::uint64_t key, const Same& same) {
  const auto [begin, end] = known.equal_range(key);
  for (auto it = begin; it != end; ++it) {
    if (same(it->second)) return it->second;
  }
  return kFar;
}

/// Finds the number of a set of channels among those that are there, or adds it.
class SetNumbers {
 public:
  explicit SetNumbers(NextHops& next) : next_(next) {}

  std::uint32_t number(const std::vector<ChannelId>& channels) {
    if (channels.empty()) return 0;
    std::uint64_t key = channels.size();
    for (const ChannelId channel : channels) key = mixed(key ^ channel) + 1;
    const std::uint32_t known = find_known(known_, key, [&](std::uint32_t set) {
      const std::span<const ChannelId> there = next_.of_set(set);
      return std::equal(channels.begin(), channels.end(), there.begin(), there.end());
    });
    if (known != kFar) return known;
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

std::vector<SwitchId> leaves_of(const Fabric& fabric, std::span<const HostId> hosts) {
  std::vector<SwitchId> leaves;
  for (const HostId host : hosts) leaves.push_back(fabric.host_switch(host));
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace

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

std::vector<std::uint32_t> NextHops::source_number(std::size_t switches) const {
  std::vector<std::uint32_t> number(switches, 0);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    number[sources[k]] = static_cast<std::uint32_t>(k);
  }
  return number;
}

NextHops next_hops(const Fabric& fabric, const Places& places, const Remains* rest) {
  NextHops next;
  std::span<const std::uint8_t> died;
  std::vector<HostId> hosts = places.hosts;
  if (rest != nullptr) {
    died = rest->channel_died;
    std::erase_if(hosts, [&](HostId host) { return rest->host_gone[host] != 0; });
  }
  next.sources = leaves_of(fabric, hosts);
  next.ends = next.sources;
  const std::vector<SwitchId>& leaves = next.ends;
  const std::vector<std::uint32_t> number = next.source_number(fabric.switches());
  for (const HostId host : places.hosts) next.row_of.push_back(number[fabric.host_switch(host)]);

  SetNumbers sets(next);
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

TableHops::TableHops(const Fabric& fabric, const TableView& tables, const GroupView& groups)
    : fabric_(&fabric), tables_(tables), groups_(groups) {
  if (tables.switches != fabric.switches()) throw Error("tables do not belong to the fabric");
  const bool ordered = std::is_sorted(groups.first.begin(), groups.first.end());
  if (groups.first.size() < 2 || !ordered || groups.first.back() > groups.ports.size()) {
    throw Error("groups of ports that do not follow one another");
  }
  const std::size_t count = groups.first.size() - 1;
  const std::uint16_t* const end = groups.of_entry + tables.switches * tables.addresses;
  if (std::any_of(groups.of_entry, end, [&](std::uint16_t group) { return group >= count; })) {
    throw Error("entries of groups that do not exist");
  }
}

/// The sets of a NextHops by what entries say.
class TableHops::Sets {
 public:
  Sets(const TableHops& hops, NextHops& next)
      : hops_(hops), numbers_(next), of_channel_(hops.fabric_->switch_channels(), 0) {}

  std::uint32_t of_port(SwitchId s, PortNumber port) {
    const Fabric& fabric = *hops_.fabric_;
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric.out(s, port);
    if (channel == kNoChannel || !fabric.is_switch_channel(channel)) return 0;
    if (of_channel_[channel] == 0) of_channel_[channel] = numbers_.number({channel});
    return of_channel_[channel];
  }

  std::uint32_t of_group(SwitchId s, std::uint16_t group) {
    const std::uint64_t key = std::uint64_t{s} << 16 | group;
    if (key == last_key_) return last_;
    const auto [found, fresh] = of_group_.try_emplace(key, 0);
    if (fresh) found->second = number_of(s, group);
    last_key_ = key;
    return last_ = found->second;
  }

 private:
  std::uint32_t number_of(SwitchId s, std::uint16_t group) {
    const Fabric& fabric = *hops_.fabric_;
    std::vector<ChannelId> channels;
    for (const PortNumber port : hops_.ports_of(group)) {
      const ChannelId channel = fabric.out(s, port);
      if (channel == kNoChannel) continue;
      if (!fabric.is_switch_channel(channel)) return 0;
      channels.push_back(channel);
    }
    return numbers_.number(channels);
  }

  const TableHops& hops_;
  SetNumbers numbers_;
  std::vector<std::uint32_t> of_channel_;
  std::unordered_map<std::uint64_t, std::uint32_t> of_group_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_ = 0;
};

bool TableHops::delivers(const Destination& to) const {
  const SwitchId s = fabric_->host_switch(to.host);
  const auto leads_there = [&](PortNumber port) {
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric_->out(s, port);
    return channel != kNoChannel && !fabric_->is_switch_channel(channel) &&
           fabric_->ejected_host(channel) == to.host;
  };
  const std::uint16_t used = group(s, to.address);
  if (used == 0) return leads_there(tables_.at(s, to.address));
  const std::span<const PortNumber> ports = ports_of(used);
  return std::any_of(ports.begin(), ports.end(), leads_there);
}

TraceEnd TableHops::fault(SwitchId s, const Destination& to) const {
  const std::uint16_t used = group(s, to.address);
  const PortNumber port = tables_.at(s, to.address);
  if (used == 0 && port == kNoPort) return TraceEnd::no_entry;
  const std::span<const PortNumber> ports =
      used == 0 ? std::span<const PortNumber>(&port, 1) : ports_of(used);
  const bool plugged = std::any_of(ports.begin(), ports.end(), [&](PortNumber each) {
    return fabric_->out(s, each) != kNoChannel;
  });
  return plugged ? TraceEnd::wrong_host : TraceEnd::dead_end;
}

NextHops TableHops::rows(std::span<const Destination> all) const {
  const std::size_t switches = fabric_->switches();
  constexpr std::size_t kBlock = ForwardingBlock::kBlock;
  NextHops next;
  next.row_of.reserve(all.size());
  Sets sets(*this, next);
  std::unordered_multimap<std::uint64_t, std::uint32_t> known;
  std::vector<SwitchId> leaf_of_row;
  std::vector<std::uint32_t> block(kBlock * switches);
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    check_interruption();
    const std::span<const Destination> here =
        all.subspan(begin, std::min(kBlock, all.size() - begin));
    // Tables lie switch by switch, so several destinations are looked up at once.
    for (SwitchId s = 0; s < switches; ++s) {
      for (std::size_t i = 0; i < here.size(); ++i) {
        const std::uint16_t used = group(s, here[i].address);
        block[i * switches + s] =
            used != 0 ? sets.of_group(s, used) : sets.of_port(s, tables_.at(s, here[i].address));
      }
    }
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::span<std::uint32_t> row(block.data() + i * switches, switches);
      const SwitchId leaf = fabric_->host_switch(here[i].host);
      const SwitchId end = delivers(here[i]) ? leaf : kNoSwitch;
      if (end == leaf) row[leaf] = 0;
      std::uint64_t key = mixed(leaf) + end;
      for (const std::uint32_t set : row) key = mixed(key ^ set) + 1;
      std::uint32_t number = find_known(known, key, [&](std::uint32_t there) {
        return leaf_of_row[there] == leaf && next.ends[there] == end &&
               std::equal(row.begin(), row.end(),
                          next.set_of.begin() + static_cast<std::ptrdiff_t>(there * switches));
      });
      if (number == kFar) {
        number = static_cast<std::uint32_t>(next.ends.size());
        next.ends.push_back(end);
        leaf_of_row.push_back(leaf);
        next.set_of.insert(next.set_of.end(), row.begin(), row.end());
        known.emplace(key, number);
      }
      next.row_of.push_back(number);
    }
  }
  return next;
}

NextHops next_hops(const Fabric& fabric, const TableView& tables, const GroupView& groups,
                   const AddressView& addresses, const Places& places) {
  std::vector<Destination> all;
  for (const HostId host : places.hosts) all.push_back({addresses.first[host], host});
  const TableHops hops(fabric, tables, groups);
  NextHops next = hops.rows(all);
  next.sources = leaves_of(fabric, places.hosts);
  if (places.hosts.size() < 2) {
    next.ends = next.sources;  // A place by itself has nobody to reach.
    return next;
  }
  WaysTo ways(fabric);
  std::vector<std::uint8_t> seen(next.ends.size(), 0);
  for (std::size_t d = 0; d < all.size(); ++d) {
    const std::uint32_t row = next.row_of[d];
    if (std::exchange(seen[row], 1) != 0) continue;
    check_interruption();
    ways.follow(next, row, next.sources);
    for (const SwitchId source : next.sources) {
      if (ways.arrive(source)) {
        next.hops = std::max<std::size_t>(next.hops, ways.hops(source));
        continue;
      }
      const SwitchId last = ways.last(source);
      throw UnreachableError(
          all[d].host, all[d].address, source, last,
          ways.circle(source) ? meaning(TraceEnd::loop) : meaning(hops.fault(last, all[d])));
    }
  }
  return next;
}

WaysTo::WaysTo(const Fabric& fabric) : state_(fabric.switches()) {
  for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
    to_.push_back(fabric.channel_to(channel));
  }
}

void WaysTo::enter(const NextHops& next, std::size_t row, SwitchId s) {
  State& state = state_[s];
  if (next.set_of[row * state_.size() + s] == 0) {
    state = {s, 0, false, Seen::done};
    order_.push_back(s);
    return;
  }
  state.seen = Seen::on_path;
  path_.push_back({s, 0});
}

void WaysTo::follow(const NextHops& next, std::size_t row, std::span<const SwitchId> from) {
  for (State& state : state_) state = {};
  order_.clear();
  const SwitchId end = next.ends[row];
  if (end != kNoSwitch) state_[end].seen = Seen::done;
  for (const SwitchId start : from) {
    if (state_[start].seen != Seen::no) continue;
    enter(next, row, start);
    while (!path_.empty()) {
      const SwitchId s = path_.back().at;
      State& state = state_[s];
      const std::span<const ChannelId> set = next.of_set(next.set_of[row * state_.size() + s]);
      if (path_.back().next == set.size()) {
        state.seen = Seen::done;
        order_.push_back(s);
        path_.pop_back();
        continue;
      }
      const SwitchId peer = to_[set[path_.back().next]];
      const State& there = state_[peer];
      if (there.seen == Seen::no) {
        enter(next, row, peer);
        continue;
      }
      ++path_.back().next;
      state.hops = std::max(state.hops, there.hops + 1);
      if (state.last != kNoSwitch) continue;
      if (there.seen == Seen::on_path) {
        state.last = peer;
        state.circle = true;
      } else {
        state.last = there.last;
        state.circle = there.circle;
      }
    }
  }
  std::reverse(order_.begin(), order_.end());
}

}  // namespace contend
