#include "contend/packets/detours.hpp"

#include <algorithm>

#include "contend/base/error.hpp"

namespace contend {

Detours::Detours(const Fabric& fabric, const Places& places, std::span<const std::uint32_t> group,
                 std::span<const std::uint32_t> rank, bool adapts)
    : fabric_(&fabric),
      adapts_(adapts),
      stops_(find_stop_ways(fabric, places, group)),
      rank_(rank.begin(), rank.end()),
      ways_out_(fabric.switches(), 0),
      channels_(fabric.switch_channels() + 2 * places.hosts.size()) {
  if (rank.size() != fabric.switch_channels()) throw Error("a rank for every channel");
  std::vector<std::uint32_t> row_of_leaf(stops_.leaves.size());
  for (std::uint32_t row = 0; row < stops_.leaf_of_row.size(); ++row) {
    const std::uint32_t leaf = stops_.leaf_of_row[row];
    if (leaf < row_of_leaf.size()) row_of_leaf[leaf] = row;
  }
  for (ChannelId channel = 0; channel < rank.size(); ++channel) {
    number_.push_back(ways_out_[fabric.channel_from(channel)]++);
  }
  number_.resize(channels_, 0);
  for (Place place = 0; place < places.hosts.size(); ++place) {
    at_.push_back(fabric.host_switch(places.hosts[place]));
    const auto leaf = std::lower_bound(stops_.leaves.begin(), stops_.leaves.end(), at_.back());
    row_to_.push_back(row_of_leaf[static_cast<std::size_t>(leaf - stops_.leaves.begin())]);
    number_[channels_ - places.hosts.size() + place] = ways_out_[at_.back()]++;
  }
  measure();
}

std::uint32_t Detours::ways_on(std::uint32_t channel) const {
  if (channel < rank_.size()) return ways_out_[fabric_->channel_to(channel)];
  return ways_out_[at_[channel - rank_.size()]];
}

/// How long ways are, and how often ranks do not rise along one, at most: to stops and on.
void Detours::measure() {
  const std::size_t switches = fabric_->switches();
  const WaysToSome& ways = stops_.ways;
  std::size_t hops[2] = {0, 0};
  std::uint32_t changes[2] = {0, 0};
  std::vector<std::size_t> left(switches, 0);
  std::vector<std::uint32_t> more(rank_.size(), 0);
  for (std::size_t row = 0; row < stops_.leaf_of_row.size(); ++row) {
    const auto onward = [&](SwitchId s) { return ways.of_set(ways.set_of[row * switches + s]); };
    // Nearest first.
    for (const SwitchId s : ways.order_of(row)) {
      left[s] = 0;
      for (const ChannelId channel : onward(s)) {
        const SwitchId next = fabric_->channel_to(channel);
        left[s] = std::max(left[s], 1 + left[next]);
        more[channel] = 0;
        for (const ChannelId then : onward(next)) {
          const std::uint32_t one = rank_[then] <= rank_[channel] ? 1 : 0;
          more[channel] = std::max(more[channel], more[then] + one);
        }
        for (const bool second : {false, true}) {
          const bool meant =
              second ? stops_.leaf_of_row[row] < stops_.leaves.size() : row < stops_.stops;
          if (!meant) continue;
          hops[second] = std::max(hops[second], left[s]);
          changes[second] = std::max(changes[second], more[channel]);
        }
      }
    }
  }
  longest_ = hops[0] + hops[1];
  lanes_ = changes[0] + changes[1] + 2;
}

std::uint32_t* Detours::follow(std::size_t row, SwitchId& at, packets::Random& random,
                               std::uint32_t* way) const {
  const WaysToSome& ways = stops_.ways;
  for (;;) {
    const auto set = ways.of_set(ways.set_of[row * fabric_->switches() + at]);
    if (set.empty()) return way;
    *way = set[set.size() > 1 ? random.below(set.size()) : 0];
    at = fabric_->channel_to(*way++);
  }
}

void Detours::set_lanes(std::uint32_t* begin, const std::uint32_t* end) const {
  std::uint32_t lane = 0;
  std::uint32_t before = 0;
  for (std::uint32_t* channel = begin; channel != end; ++channel) {
    const std::uint32_t rank = rank_[*channel];
    if (channel != begin && rank <= before) lane += static_cast<std::uint32_t>(channels_);
    before = rank;
    *channel += lane;
  }
}

std::uint32_t* Detours::straight(SwitchId from, Place target, packets::Random& random,
                                 std::uint32_t* way) const {
  std::uint32_t* const end = follow(row_to_[target], from, random, way);
  set_lanes(way, end);
  return end;
}

std::uint32_t* Detours::around(SwitchId from, Place target, packets::Random& random,
                               std::uint32_t* way) const {
  std::uint32_t* const turn = follow(random.below(stops_.stops), from, random, way);
  std::uint32_t* const end = follow(row_to_[target], from, random, turn);
  set_lanes(way, end);
  return end;
}

}  // namespace contend
