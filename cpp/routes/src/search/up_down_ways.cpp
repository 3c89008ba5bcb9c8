#include "up_down_ways.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>
#include <numeric>

namespace contend {

UpDownWays::UpDownWays(const SwitchLinks& links, std::vector<std::uint32_t> height)
    : links_(&links),
      height_(std::move(height)),
      at_height_(height_.size()),
      hops_(height_.size(), kFar),
      cost_(height_.size(), 0) {
  for (SwitchId s = 0; s < height_.size(); ++s) at_height_[height_[s]] = s;
}

void UpDownWays::lead_to(SwitchId destination) {
  check_interruption();
  hops_.assign(hops_.size(), kFar);
  order_.clear();
  begin_.assign(1, 0);
  ways_.clear();
  hops_[destination] = 0;
  cost_[destination] = 0;
  for (std::size_t k = height_[destination] + 1; k < at_height_.size(); ++k) {
    collect(at_height_[k], false);
  }
  for (std::size_t k = at_height_.size(); k-- > 0;) {
    if (hops_[at_height_[k]] == kFar) collect(at_height_[k], true);
  }
}

/// The links up or down out of a switch that lead on by the fewest hops.
void UpDownWays::collect(SwitchId s, bool up) {
  const std::size_t first = ways_.size();
  std::uint32_t least = kFar;
  for (LinkId link = links_->begin(s); link < links_->end(s); ++link) {
    const SwitchId far = links_->to(link);
    if ((height_[far] > height_[s]) != up || hops_[far] >= least) continue;
    if (hops_[far] + 1 < least) ways_.resize(first);
    least = hops_[far] + 1;
    ways_.push_back(link);
  }
  if (ways_.size() == first) return;
  hops_[s] = least;
  order_.push_back(s);
  begin_.push_back(ways_.size());
}

bool UpDownWays::take_cheapest(RoutedTraffic& traffic, std::size_t d) {
  check_interruption();
  bool changed = false;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const SwitchId s = order_[k];
    const LinkId present = traffic.out(d, s);
    LinkId cheapest = kNoLink;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t w = begin_[k]; w < begin_[k + 1]; ++w) {
      const LinkId link = ways_[w];
      const std::uint64_t cost = traffic.price(link) + cost_[links_->to(link)];
      if (cost < least || (cost == least && link == present)) {
        least = cost;
        cheapest = link;
      }
    }
    cost_[s] = least;
    if (cheapest == present) continue;
    traffic.set(d, s, cheapest);
    changed = true;
  }
  return changed;
}

std::vector<std::uint32_t> UpDownWays::link_ranks() const {
  std::vector<std::uint32_t> rank(links_->links());
  const auto switches = static_cast<std::uint32_t>(height_.size());
  for (LinkId link = 0; link < rank.size(); ++link) {
    const std::uint32_t from = height_[links_->from(link)];
    rank[link] = height_[links_->to(link)] > from ? from : 2 * switches - from;
  }
  return rank;
}

static std::vector<std::uint32_t> levels_above(const SwitchLinks& links,
                                               std::span<const SwitchId> lowest) {
  constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  std::vector<std::uint32_t> level(links.switches(), kUnseen);
  std::vector<SwitchId> reached(lowest.begin(), lowest.end());
  for (const SwitchId s : lowest) level[s] = 0;
  for (std::size_t head = 0; head < reached.size(); ++head) {
    for (LinkId link = links.begin(reached[head]); link < links.end(reached[head]); ++link) {
      const SwitchId far = links.to(link);
      if (level[far] != kUnseen) continue;
      level[far] = level[reached[head]] + 1;
      reached.push_back(far);
    }
  }
  return level;
}

std::vector<std::uint32_t> heights_above(const SwitchLinks& links,
                                         std::span<const SwitchId> lowest) {
  const std::vector<std::uint32_t> level = levels_above(links, lowest);
  std::vector<SwitchId> order(links.switches());
  std::iota(order.begin(), order.end(), SwitchId{0});
  std::ranges::stable_sort(order, {}, [&](SwitchId s) { return level[s]; });
  std::vector<std::uint32_t> height(links.switches());
  for (std::uint32_t k = 0; k < order.size(); ++k) height[order[k]] = k;
  return height;
}

std::vector<std::uint32_t> ranks_towards(const SwitchLinks& links, SwitchId root) {
  std::vector<std::uint32_t> height = heights_above(links, std::span(&root, 1));
  for (std::uint32_t& each : height) {
    each = static_cast<std::uint32_t>(links.switches() - 1 - each);
  }
  return UpDownWays(links, std::move(height)).link_ranks();
}

}  // namespace contend
