#include "contend/routes/ways/next_hops.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/checks/unreachable.hpp"
#include "set_numbers.hpp"

namespace contend {

namespace {

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

}  // namespace contend
