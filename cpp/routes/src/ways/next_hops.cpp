#include "contend/routes/next_hops.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
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

  /// `guess` is the number of a set that it may well be.
  std::uint32_t number(const std::vector<ChannelId>& channels, std::uint32_t guess = 0) {
    const auto same = [&](std::uint32_t set) {
      const std::span<const ChannelId> there = next_.of_set(set);
      return std::equal(channels.begin(), channels.end(), there.begin(), there.end());
    };
    if (same(guess)) return guess;
    if (channels.empty()) return 0;
    std::uint64_t key = channels.size();
    for (const ChannelId channel : channels) key = mixed(key ^ channel) + 1;
    const std::uint32_t known = find_known(known_, key, same);
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

/// Searches for the nearest of some switches, from them outwards.
class Search {
 public:
  Search(const Fabric& fabric, const Measure& measure)
      : fabric_(fabric),
        measure_(measure),
        // No way crosses so many cables within groups.
        between_groups_(static_cast<std::uint32_t>(fabric.switches())),
        distance_(fabric.switches()),
        last_set_(fabric.switches(), 0) {
    if (!measure.group.empty() && measure.group.size() != fabric.switches()) {
      throw Error("a group for every switch");
    }
    list_channels();
  }

  void start(std::span<const SwitchId> to) {
    std::fill(distance_.begin(), distance_.end(), kFar);
    order_.clear();
    if (measure_.group.empty()) {
      by_cables(to);
    } else {
      by_groups(to);
    }
  }

  /// The switches from which a way leads there, nearest first.
  std::span<const SwitchId> order() const { return order_; }
  /// Cables of a shortest way; kFar where there is none.
  std::uint32_t hops(SwitchId s) const {
    const std::uint32_t far = distance_[s];
    return far == kFar ? kFar : far / between_groups_ + far % between_groups_;
  }
  /// Writes the number of the set of channels that lead nearer for every switch that is away.
  void find_sets(SetNumbers& sets, std::span<std::uint32_t> set_of) {
    for (SwitchId s = 0; s < fabric_.switches(); ++s) {
      if (distance_[s] == kFar || distance_[s] == 0) continue;
      towards_.clear();
      for_each_channel(s, [&](ChannelId channel, SwitchId peer) {
        if (distance_[peer] + length(s, peer) == distance_[s]) towards_.push_back(channel);
      });
      // Often that of the search before, whose end was near this one's.
      set_of[s] = last_set_[s] = sets.number(towards_, last_set_[s]);
    }
  }

 private:
  /// A channel between switches that is there, and where it leads.
  struct Hop {
    ChannelId channel;
    SwitchId to;
  };

  void list_channels() {
    first_.push_back(0);
    for (SwitchId s = 0; s < fabric_.switches(); ++s) {
      for (PortNumber port = 1; port <= fabric_.switch_ports(s); ++port) {
        const ChannelId channel = fabric_.out(s, port);
        if (channel == kNoChannel || !fabric_.is_switch_channel(channel)) continue;
        if (!measure_.died.empty() && measure_.died[channel] != 0) continue;
        hops_.push_back({channel, fabric_.channel_to(channel)});
      }
      first_.push_back(hops_.size());
    }
  }

  template <class Visit>
  void for_each_channel(SwitchId s, const Visit& visit) const {
    for (std::size_t k = first_[s]; k < first_[s + 1]; ++k) visit(hops_[k].channel, hops_[k].to);
  }

  std::uint32_t length(SwitchId one, SwitchId other) const {
    const std::span<const std::uint32_t> group = measure_.group;
    return group.empty() || group[one] == group[other] ? 1 : between_groups_;
  }

  void by_cables(std::span<const SwitchId> to) {
    for (const SwitchId end : to) distance_[end] = 0;
    order_.assign(to.begin(), to.end());
    for (std::size_t next = 0; next < order_.size(); ++next) {
      const SwitchId s = order_[next];
      for_each_channel(s, [&](ChannelId, SwitchId peer) {
        if (distance_[peer] != kFar) return;
        distance_[peer] = distance_[s] + 1;
        order_.push_back(peer);
      });
    }
  }

  void by_groups(std::span<const SwitchId> to) {
    using Step = std::pair<std::uint32_t, SwitchId>;
    std::priority_queue<Step, std::vector<Step>, std::greater<>> queue;
    for (const SwitchId end : to) {
      distance_[end] = 0;
      queue.push({0, end});
    }
    while (!queue.empty()) {
      const auto [far, s] = queue.top();
      queue.pop();
      if (far != distance_[s]) continue;
      order_.push_back(s);
      for_each_channel(s, [&, far = far, s = s](ChannelId, SwitchId peer) {
        const std::uint32_t by_here = far + length(s, peer);
        if (by_here >= distance_[peer]) return;
        distance_[peer] = by_here;
        queue.push({by_here, peer});
      });
    }
  }

  const Fabric& fabric_;
  Measure measure_;
  std::uint32_t between_groups_;
  std::vector<std::size_t> first_;  ///< of every switch, where its hops begin
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> distance_;
  std::vector<SwitchId> order_;
  std::vector<ChannelId> towards_;
  std::vector<std::uint32_t> last_set_;  ///< of every switch, in the search before
};

}  // namespace

std::vector<std::uint32_t> distances(const Fabric& fabric, SwitchId to) {
  Search search(fabric, {});
  search.start({&to, 1});
  std::vector<std::uint32_t> hops;
  for (SwitchId s = 0; s < fabric.switches(); ++s) hops.push_back(search.hops(s));
  return hops;
}

WaysToSome ways_to_some(const Fabric& fabric, std::span<const std::vector<SwitchId>> ends,
                        const Measure& measure) {
  WaysToSome ways;
  SetNumbers sets(ways);
  Search search(fabric, measure);
  const std::size_t switches = fabric.switches();
  ways.set_of.assign(ends.size() * switches, 0);
  for (std::size_t row = 0; row < ends.size(); ++row) {
    check_interruption();
    search.start(ends[row]);
    ways.order.insert(ways.order.end(), search.order().begin(), search.order().end());
    ways.first_of_row.push_back(ways.order.size());
    search.find_sets(sets, std::span(ways.set_of).subspan(row * switches, switches));
  }
  return ways;
}

std::vector<std::uint32_t> NextHops::source_number(std::size_t switches) const {
  std::vector<std::uint32_t> number(switches, 0);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    number[sources[k]] = static_cast<std::uint32_t>(k);
  }
  return number;
}

NextHops next_hops(const Fabric& fabric, const Places& places, const Remains* rest,
                   std::span<const std::uint32_t> group) {
  NextHops next;
  std::vector<HostId> hosts = places.hosts;
  if (rest != nullptr) {
    std::erase_if(hosts, [&](HostId host) { return rest->host_gone[host] != 0; });
  }
  next.sources = leaves_of(fabric, hosts);
  next.ends = next.sources;
  const std::vector<SwitchId>& leaves = next.ends;
  const std::vector<std::uint32_t> number = next.source_number(fabric.switches());
  for (const HostId host : places.hosts) next.row_of.push_back(number[fabric.host_switch(host)]);

  SetNumbers sets(next);
  Search search(fabric, measure_of(rest, group));
  next.set_of.assign(leaves.size() * fabric.switches(), 0);
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    check_interruption();
    search.start({&leaves[leaf], 1});
    const auto is_far = [&](SwitchId s) { return search.hops(s) == kFar; };
    if (std::any_of(leaves.begin(), leaves.end(), is_far)) {
      const auto from = std::find_if(hosts.begin(), hosts.end(),
                                     [&](HostId host) { return is_far(fabric.host_switch(host)); });
      const auto there = std::find_if(hosts.begin(), hosts.end(), [&](HostId host) {
        return fabric.host_switch(host) == leaves[leaf];
      });
      const SwitchId s = fabric.host_switch(*from);
      throw UnreachableError(*there, 0, s, s, "has no way there");
    }
    for (const SwitchId source : leaves) {
      next.hops = std::max<std::size_t>(next.hops, search.hops(source));
    }
    search.find_sets(sets,
                     std::span(next.set_of).subspan(leaf * fabric.switches(), fabric.switches()));
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
                   const AddressView& addresses, const Places& places,
                   std::vector<std::uint8_t>* cut) {
  std::vector<Destination> all;
  for (const HostId host : places.hosts) all.push_back({addresses.first[host], host});
  const TableHops hops(fabric, tables, groups);
  NextHops next = hops.rows(all);
  next.sources = leaves_of(fabric, places.hosts);
  if (cut != nullptr) cut->assign(next.ends.size() * next.sources.size(), 0);
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
    for (std::size_t k = 0; k < next.sources.size(); ++k) {
      const SwitchId source = next.sources[k];
      if (ways.arrive(source)) {
        next.hops = std::max<std::size_t>(next.hops, ways.hops(source));
        continue;
      }
      if (cut != nullptr) {
        (*cut)[row * next.sources.size() + k] = 1;
        continue;
      }
      const SwitchId last = ways.last(source);
      throw UnreachableError(
          all[d].host, all[d].address, source, last,
          ways.circle(source) ? meaning(TraceEnd::loop) : meaning(hops.fault(last, all[d])));
    }
    // Nobody is told of a way there, but a row has an end.
    if (next.ends[row] == kNoSwitch) next.ends[row] = fabric.host_switch(all[d].host);
  }
  return next;
}

}  // namespace contend
