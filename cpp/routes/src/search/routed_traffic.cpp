#include "routed_traffic.hpp"

#include <algorithm>
#include <numeric>

#include "contend/base/error.hpp"
#include "contend/base/tiles.hpp"

namespace contend {

RoutedTraffic::RoutedTraffic(const Fabric& fabric, const Targets& targets, const SwitchLinks& links,
                             const CollisionTerms& terms)
    : links_(&links),
      demand_(terms.demand),
      to_(contend::destinations(fabric, targets.hosts)),
      by_switch_(to_.size()),
      hosts_(fabric.switches(), 0),
      source_number_(fabric.switches(), 0),
      out_(to_.size() * fabric.switches(), kNone),
      weight_(links.links(), 1),
      price_(links.links(), 0) {
  if (!demand_.empty() && demand_.size() != fabric.hosts() * fabric.switches()) {
    throw Error("what is sent does not belong to the fabric's hosts and switches");
  }
  if (!terms.cable_cost.empty() && terms.cable_cost.size() != fabric.cables()) {
    throw Error("costs do not belong to the fabric's cables");
  }
  at_.reserve(to_.size());
  for (const Destination& to : to_) at_.push_back(fabric.host_switch(to.host));
  std::iota(by_switch_.begin(), by_switch_.end(), std::size_t{0});
  std::ranges::stable_sort(by_switch_, {}, [&](std::size_t d) { return at_[d]; });
  for (const SwitchId s : fabric.host_switches()) ++hosts_[s];
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (hosts_[s] == 0) continue;
    source_number_[s] = static_cast<std::uint32_t>(sources_.size());
    sources_.push_back(s);
  }
  if (!terms.cable_cost.empty()) {
    for (LinkId link = 0; link < links.links(); ++link) {
      weight_[link] = terms.cable_cost[fabric.out(links.from(link), links.port(link)) / 2];
    }
  }
  find_parts();
}

void RoutedTraffic::find_parts() {
  constexpr std::uint32_t kUnseen = 0xFFFFFFFF;
  part_.assign(links_->switches(), kUnseen);
  std::vector<SwitchId> reached;
  for (SwitchId first = 0; first < links_->switches(); ++first) {
    if (part_[first] != kUnseen) continue;
    part_[first] = first;
    reached.assign(1, first);
    for (std::size_t head = 0; head < reached.size(); ++head) {
      for (LinkId link = links_->begin(reached[head]); link < links_->end(reached[head]); ++link) {
        const SwitchId far = links_->to(link);
        if (part_[far] != kUnseen) continue;
        part_[far] = first;
        reached.push_back(far);
      }
    }
  }
}

void RoutedTraffic::adopt(const Fabric& fabric, const Tables& tables) {
  const std::size_t addresses = tables.size() / fabric.switches();
  Progress passes(2);
  for_each_in_tiles(to_.size(), fabric.switches(), [&](std::size_t d, std::size_t at) {
    const auto s = static_cast<SwitchId>(at);
    const PortNumber port = tables[s * addresses + to_[d].address];
    set(d, s, s == at_[d] ? kNoLink : links_->by_port(s, port));
  });
  passes.done();
  for (const std::size_t d : InParts(to_.size())) {
    add(d);
  }
}

bool RoutedTraffic::is_reached(std::size_t d) const {
  return std::ranges::all_of(sources_, [&](SwitchId s) {
    return s == at_[d] || !joined(s, at_[d]) || out(d, s) != kNoLink;
  });
}

void RoutedTraffic::keep_sources_apart() {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  const std::size_t size = sources_.size() * links_->links();
  if (size > kMost) return;
  // Rows must not share their cache sets: a route's own links are looked up in a column.
  constexpr std::size_t kLine = 64 / sizeof(own_[0]);
  own_stride_ = ((sources_.size() + kLine - 1) / kLine | 1) * kLine;
  own_.assign(own_stride_ * links_->links(), 0);
  own_at_source_.assign(links_->links(), 0);
}

std::uint64_t RoutedTraffic::cost(std::size_t d) const {
  std::uint64_t sum = 0;
  for (const SwitchId source : sources_) {
    std::uint64_t each = 0;
    walk(d, source, kNoLink, [&](LinkId link, LinkId before) {
      if (before == kNoLink) {
        each += price_at_source(link);
      } else {
        each += price_[link] - (own_.empty() ? 0 : own(source, link));
      }
    });
    sum += sent(d, source) * each;
  }
  return sum;
}

std::uint64_t RoutedTraffic::mean_price() const {
  const std::uint64_t sum = std::accumulate(price_.begin(), price_.end(), std::uint64_t{0});
  return sum / std::max<std::size_t>(price_.size(), 1);
}

double RoutedTraffic::collisions() {
  double sum = 0;
  for (const std::size_t d : InParts(to_.size())) {
    remove(d);
    sum += static_cast<double>(cost(d));
    add(d);
  }
  return sum;
}

}  // namespace contend
