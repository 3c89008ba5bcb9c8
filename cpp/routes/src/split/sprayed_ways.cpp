#include "sprayed_ways.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "contend/base/progress.hpp"

namespace contend {

SprayedWays::SprayedWays(const Fabric& fabric, NextHops next)
    : switches_(fabric.switches()), next_(std::move(next)) {
  put_in_order(fabric);
}

void SprayedWays::bundle_sets() {
  std::map<std::vector<SwitchId>, std::uint32_t> number;
  for (std::uint32_t set = 0; set + 1 < next_.first.size(); ++set) {
    std::vector<SwitchId> ends;
    for (const ChannelId channel : next_.of_set(set)) ends.push_back(to_[channel]);
    std::sort(ends.begin(), ends.end());
    const auto next = static_cast<std::uint32_t>(switches_ + bundles());
    const auto [found, is_new] = number.try_emplace(std::move(ends), next);
    bundle_of_.push_back(found->second);
    if (!is_new) continue;
    end_.insert(end_.end(), found->first.begin(), found->first.end());
    first_end_.push_back(end_.size());
  }
}

/// Bundles come right before the first of their ends: all switches that lead to them do before.
void SprayedWays::put_in_order(const Fabric& fabric) {
  WaysTo ways(fabric);
  to_ = ways.ends();
  bundle_sets();
  begin_.push_back(0);
  std::vector<std::vector<std::uint32_t>> before(switches_);
  std::vector<std::size_t> place(switches_, 0);
  std::vector<std::uint32_t> met;
  const auto sooner = [&](SwitchId a, SwitchId b) { return place[a] < place[b]; };
  for (const std::size_t row : InParts(classes())) {
    ways.follow(next_, row, next_.sources);
    const std::span<const SwitchId> order = ways.order();
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    place[next_.ends[row]] = order.size();
    met.clear();
    for (const SwitchId s : order) met.push_back(bundle_of_[set_at(row, s)]);
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    for (const std::uint32_t bundle : met) {
      const std::span<const SwitchId> ends = ends_of(bundle);
      if (ends.empty()) continue;  // No way leads on.
      before[*std::min_element(ends.begin(), ends.end(), sooner)].push_back(bundle);
      work_ += ends.size();
    }
    for (const SwitchId s : order) {
      take_over(before[s]);
      order_.push_back(s);
    }
    take_over(before[next_.ends[row]]);
    work_ += order.size();
    begin_.push_back(order_.size());
  }
}

void SprayedWays::take_over(std::vector<std::uint32_t>& bundles) {
  order_.insert(order_.end(), bundles.begin(), bundles.end());
  bundles.clear();
}

}  // namespace contend
