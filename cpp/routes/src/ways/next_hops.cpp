#include "contend/routes/ways/next_hops.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
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
    // The farthest switches, which are most of them in trees, lead to none that is not known yet.
    for (std::size_t next = 0; next < order_.size() && order_.size() < distance_.size(); ++next) {
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
  for (const std::size_t row : InParts(ends.size())) {
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

/// Throws UnreachableError where no way joins two of the hosts. Ways lead back as they lead there,
/// so it is enough to look from one leaf.
static void expect_joined(const Fabric& fabric, std::span<const HostId> hosts,
                          std::span<const SwitchId> leaves, const Measure& measure) {
  if (leaves.empty()) return;
  Search search(fabric, measure);
  search.start(leaves.first(1));
  const auto is_far = [&](HostId host) { return search.hops(fabric.host_switch(host)) == kFar; };
  const auto from = std::find_if(hosts.begin(), hosts.end(), is_far);
  if (from == hosts.end()) return;
  const auto there = std::find_if(hosts.begin(), hosts.end(), [&](HostId host) {
    return fabric.host_switch(host) == leaves.front();
  });
  const SwitchId s = fabric.host_switch(*from);
  throw UnreachableError(*there, 0, s, s, "has no way there");
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

  const Measure measure = measure_of(rest, group);
  expect_joined(fabric, hosts, leaves, measure);
  const std::size_t switches = fabric.switches();
  next.set_of.assign(leaves.size() * switches, 0);
  // Each thread numbers the sets that it meets in a run of leaves.
  const std::size_t runs = std::min(static_cast<std::size_t>(thread_count()), leaves.size());
  const auto begin = [&](std::size_t run) { return leaves.size() * run / runs; };
  std::vector<NextHops> found(runs);
  in_parallel(static_cast<int>(runs), runs, 1, [&](const Pieces& pieces) {
    for (const std::size_t run : pieces) {
      SetNumbers sets(found[run]);
      Search search(fabric, measure);
      for (const std::size_t k : InParts(begin(run + 1) - begin(run))) {
        const std::size_t leaf = begin(run) + k;
        search.start({&leaves[leaf], 1});
        for (const SwitchId source : leaves) {
          found[run].hops = std::max<std::size_t>(found[run].hops, search.hops(source));
        }
        search.find_sets(sets, std::span(next.set_of).subspan(leaf * switches, switches));
      }
    }
  });
  // In the order of leaves, so that numbers do not depend on who met what.
  SetNumbers sets(next);
  for (std::size_t run = 0; run < runs; ++run) {
    next.hops = std::max(next.hops, found[run].hops);
    const std::vector<std::uint32_t> known = sets.numbers(found[run]);
    for (std::size_t k = begin(run) * switches; k < begin(run + 1) * switches; ++k) {
      next.set_of[k] = known[next.set_of[k]];
    }
  }
  return next;
}

Classes::Classes(const Fabric& fabric, const Places& places, const NextHops& next)
    : leaves_(next.sources.size()), class_of_(next.row_of) {
  const std::vector<std::uint32_t> number = next.source_number(fabric.switches());
  for (const HostId host : places.hosts) leaf_of_.push_back(number[fabric.host_switch(host)]);
  for (const SwitchId end : next.ends) leaf_of_class_.push_back(number[end]);
}

Classes::Classes(const Fabric& fabric, const Places& places, std::span<const SwitchId> leaves)
    : leaves_(leaves.size()), leaf_of_class_(leaves.size()) {
  std::vector<std::uint32_t> number(fabric.switches(), 0);
  std::iota(leaf_of_class_.begin(), leaf_of_class_.end(), 0U);
  for (const std::uint32_t leaf : leaf_of_class_) number[leaves[leaf]] = leaf;
  for (const HostId host : places.hosts) leaf_of_.push_back(number[fabric.host_switch(host)]);
  class_of_ = leaf_of_;
}

WaysTo::WaysTo(const Fabric& fabric) : to_(fabric.channel_ends()), state_(fabric.switches()) {}

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
