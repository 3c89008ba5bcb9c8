#include "valiant_traffic.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNoLeaf = std::numeric_limits<std::uint32_t>::max();

/// What a message meets at worst, on any of its ways.
struct Largest {
  template <class Beyond>
  static double over(std::span<const ChannelId> set, std::span<const double> value,
                     const Beyond& beyond) {
    double most = 0;
    for (const ChannelId channel : set) most = std::max({most, value[channel], beyond(channel)});
    return most;
  }
  static void add(double& all, double one, double /*part*/) { all = std::max(all, one); }
  static double both(double first, double second) { return std::max(first, second); }
};

/// What its packets meet along their ways, in the mean.
struct Mean {
  template <class Beyond>
  static double over(std::span<const ChannelId> set, std::span<const double> value,
                     const Beyond& beyond) {
    double sum = 0;
    for (const ChannelId channel : set) sum += value[channel] + beyond(channel);
    return sum / static_cast<double>(set.size());
  }
  static void add(double& all, double one, double part) { all += part * one; }
  static double both(double first, double second) { return first + second; }
};

bool any(std::span<const std::uint64_t> messages) {
  return std::any_of(messages.begin(), messages.end(), [](std::uint32_t n) { return n > 0; });
}

std::vector<std::vector<SwitchId>> stops_of(const Fabric& fabric,
                                            std::span<const std::uint32_t> group) {
  std::vector<std::vector<SwitchId>> members(fabric.switches());
  if (group.empty()) {
    for (HostId host = 0; host < fabric.hosts(); ++host) {
      const SwitchId s = fabric.host_switch(host);
      members[s].assign(1, s);
    }
    return members;
  }
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (group[s] >= fabric.switches()) throw Error("groups numbered from 0");
    members[group[s]].push_back(s);
  }
  return members;
}

}  // namespace

StopWays find_stop_ways(const Fabric& fabric, const Places& places,
                        std::span<const std::uint32_t> group, const Remains* rest) {
  StopWays found;
  found.leaves = next_hops(fabric, places, rest, group).sources;

  const Measure measure = measure_of(rest, group);
  // Switches that messages cannot get to are no stops, such as those of another part.
  std::vector<std::uint8_t> joins(fabric.switches(), 0);
  const std::vector<std::vector<SwitchId>> all_leaves{found.leaves};
  for (const SwitchId s : ways_to_some(fabric, all_leaves, measure).order) joins[s] = 1;
  std::vector<std::vector<SwitchId>> ends;
  for (const std::vector<SwitchId>& stop : stops_of(fabric, group)) {
    ends.emplace_back();
    std::copy_if(stop.begin(), stop.end(), std::back_inserter(ends.back()),
                 [&](SwitchId s) { return joins[s] != 0; });
    if (ends.back().empty()) ends.pop_back();
  }
  found.stops = ends.size();
  found.leaf_of_row.assign(found.stops, kNoLeaf);
  std::vector<std::uint32_t> row_at(fabric.switches(), kNoLeaf);
  for (std::uint32_t stop = 0; stop < found.stops; ++stop) {
    if (ends[stop].size() == 1) row_at[ends[stop][0]] = stop;
  }
  for (std::uint32_t leaf = 0; leaf < found.leaves.size(); ++leaf) {
    const std::uint32_t row = row_at[found.leaves[leaf]];
    if (row != kNoLeaf) {
      found.leaf_of_row[row] = leaf;
      continue;
    }
    ends.push_back({found.leaves[leaf]});
    found.leaf_of_row.push_back(leaf);
  }
  found.ways = ways_to_some(fabric, ends, measure);
  return found;
}

ValiantTraffic::ValiantTraffic(const Fabric& fabric, const Places& places,
                               std::span<const std::uint32_t> group, const Remains* rest)
    : switches_(fabric.switches()), to_(fabric.channel_ends()) {
  StopWays found = find_stop_ways(fabric, places, group, rest);
  leaves_ = std::move(found.leaves);
  stops_ = found.stops;
  ways_ = std::move(found.ways);
  leaf_of_row_ = std::move(found.leaf_of_row);
  // A stop of several switches has as many ends of its ways.
  for (std::size_t stop = 0; stop < stops_; ++stop) {
    const std::span<const SwitchId> order = ways_.order_of(stop);
    const auto is_end = [&](SwitchId s) { return ways_.set_of[stop * switches_ + s] == 0; };
    alike_ = alike_ && (order.size() < 2 || !is_end(order[1]));
  }
  find_entries();
}

std::size_t ValiantTraffic::bytes() const {
  return (ways_.set_of.size() + ways_.order.size() + ways_.members.size() + to_.size()) *
             sizeof(std::uint32_t) +
         entries_.size() * sizeof(Entry);
}

void ValiantTraffic::find_entries() {
  const double each = 1.0 / static_cast<double>(std::max<std::size_t>(stops_, 1));
  if (alike_) {
    for (std::size_t stop = 0; stop < stops_; ++stop) {
      entries_.push_back({ways_.order_of(stop)[0], each});
    }
    first_entry_.assign(leaves_.size() + 1, 0);
    return;
  }
  std::vector<double> flow(switches_, 0);
  std::vector<double> on_set(ways_.first.size(), 0);
  std::vector<double> met(switches_, 0);
  for (const std::size_t k : InParts(leaves_.size())) {
    const SwitchId leaf = leaves_[k];
    for (std::size_t stop = 0; stop < stops_; ++stop) {
      flow[leaf] = each;
      forward(stop, flow, on_set);
      for (const SwitchId s : ways_.order_of(stop)) met[s] += std::exchange(flow[s], 0);
    }
    for (SwitchId s = 0; s < switches_; ++s) {
      if (met[s] > 0) entries_.push_back({s, std::exchange(met[s], 0)});
    }
    first_entry_.push_back(entries_.size());
  }
}

void ValiantTraffic::forward(std::size_t row, std::span<double> flow,
                             std::span<double> on_set) const {
  const std::span<const SwitchId> order = ways_.order_of(row);
  for (auto s = order.rbegin(); s != order.rend(); ++s) {
    const std::uint32_t set = ways_.set_of[row * switches_ + *s];
    if (flow[*s] == 0 || set == 0) continue;
    const std::span<const ChannelId> channels = ways_.of_set(set);
    const double each = std::exchange(flow[*s], 0) / static_cast<double>(channels.size());
    on_set[set] += each;
    for (const ChannelId channel : channels) flow[to_[channel]] += each;
  }
}

void ValiantTraffic::add_second_half(std::span<const double> sent, std::span<double> flow) const {
  if (alike_) {
    const double all = std::accumulate(sent.begin(), sent.end(), 0.0);
    if (all == 0) return;
    for (const Entry& entry : entries_) flow[entry.at] += all * entry.part;
    return;
  }
  for (std::size_t leaf = 0; leaf < sent.size(); ++leaf) {
    if (sent[leaf] == 0) continue;
    for (const Entry& entry : entries_of(leaf)) flow[entry.at] += sent[leaf] * entry.part;
  }
}

void ValiantTraffic::send(std::span<const double> straight, std::span<const double> around,
                          std::span<double> load) const {
  const std::size_t count = leaves_.size();
  std::vector<double> to_each_stop(count, 0);
  for (std::size_t pair = 0; pair < around.size(); ++pair) {
    to_each_stop[pair % count] += around[pair] / static_cast<double>(stops_);
  }
  std::vector<double> flow(switches_, 0);
  std::vector<double> on_set(ways_.first.size(), 0);
  for (const std::size_t row : InParts(leaf_of_row_.size())) {
    if (row < stops_) {
      for (std::size_t leaf = 0; leaf < count; ++leaf) flow[leaves_[leaf]] += to_each_stop[leaf];
    }
    if (leaf_of_row_[row] != kNoLeaf) {
      const std::size_t first = leaf_of_row_[row] * count;
      if (!around.empty()) add_second_half(around.subspan(first, count), flow);
      for (std::size_t leaf = 0; leaf < count && !straight.empty(); ++leaf) {
        flow[leaves_[leaf]] += straight[first + leaf];
      }
    }
    forward(row, flow, on_set);
    for (const SwitchId s : ways_.order_of(row)) {
      if (ways_.set_of[row * switches_ + s] != 0) break;
      flow[s] = 0;
    }
  }
  for (std::uint32_t set = 1; set + 1 < ways_.first.size(); ++set) {
    if (on_set[set] == 0) continue;
    for (const ChannelId channel : ways_.of_set(set)) load[channel] += on_set[set];
  }
}

template <class Meeting>
void ValiantTraffic::find(std::span<const std::uint64_t> asked, std::span<const double> value,
                          std::span<double> straight, std::span<double> around) const {
  const std::size_t count = leaves_.size();
  std::vector<double> to_stops(count, 0);
  std::vector<double> from(switches_, 0);
  const auto beyond = [&](ChannelId channel) { return from[to_[channel]]; };
  for (const std::size_t row : InParts(leaf_of_row_.size())) {
    const bool to_stop = row < stops_ && !around.empty();
    const std::uint32_t leaf = leaf_of_row_[row];
    const bool to_leaf = leaf != kNoLeaf && any(asked.subspan(leaf * count, count));
    if (!to_stop && !to_leaf) continue;
    for (const SwitchId s : ways_.order_of(row)) {
      const std::uint32_t set = ways_.set_of[row * switches_ + s];
      from[s] = set == 0 ? 0 : Meeting::over(ways_.of_set(set), value, beyond);
    }
    for (std::size_t source = 0; source < count && to_stop; ++source) {
      Meeting::add(to_stops[source], from[leaves_[source]], 1.0 / static_cast<double>(stops_));
    }
    if (!to_leaf) continue;
    const std::size_t first = leaf * count;
    for (std::size_t source = 0; source < count && !straight.empty(); ++source) {
      straight[first + source] = from[leaves_[source]];
    }
    if (around.empty()) continue;
    double met = 0;
    for (std::size_t source = 0; source < count; ++source) {
      if (asked[first + source] == 0) continue;
      if (!alike_ || met == 0) {
        met = 0;
        for (const Entry& entry : entries_of(source)) Meeting::add(met, from[entry.at], entry.part);
      }
      around[first + source] = met;
    }
  }
  for (std::size_t pair = 0; pair < around.size(); ++pair) {
    if (asked[pair] > 0) around[pair] = Meeting::both(to_stops[pair % count], around[pair]);
  }
}

void ValiantTraffic::find_largest(std::span<const std::uint64_t> asked,
                                  std::span<const double> value, std::span<double> straight,
                                  std::span<double> around) const {
  find<Largest>(asked, value, straight, around);
}

void ValiantTraffic::find_mean(std::span<const std::uint64_t> asked, std::span<const double> value,
                               std::span<double> straight, std::span<double> around) const {
  find<Mean>(asked, value, straight, around);
}

}  // namespace contend
