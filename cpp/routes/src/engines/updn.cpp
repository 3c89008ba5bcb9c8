#include <algorithm>
#include <deque>

#include "contend/base/error.hpp"
#include "contend/routes/engines/balance.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kFar = 0xFFFFFFFF;

std::vector<std::uint32_t> distances_from(const SwitchLinks& links,
                                          std::span<const SwitchId> sources) {
  std::vector<std::uint32_t> distance(links.switches(), kFar);
  std::vector<SwitchId> queue(sources.begin(), sources.end());
  for (const SwitchId source : sources) distance[source] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const SwitchId at = queue[head];
    for (LinkId link = links.begin(at); link < links.end(at); ++link) {
      const SwitchId far = links.to(link);
      if (distance[far] != kFar) continue;
      distance[far] = distance[at] + 1;
      queue.push_back(far);
    }
  }
  return distance;
}

/// One search outward from the destination, so that a step away from it is a message's step
/// towards it taken backwards.
///
/// Hops are kept per link, a switch that is reached by a link for the first time is visited again,
/// and it remembers only how the visit that is under way reached it. In trees that gives exactly
/// the paths that go up, then down. Elsewhere a second visit can carry the distance of another
/// path on, and what results is what OpenSM computes, not what its rule says.
class UpDownSearch {
 public:
  UpDownSearch(const SwitchLinks& links, std::span<const std::uint8_t> up)
      : links_(&links),
        up_(up),
        hops_(links.links()),
        least_(links.switches()),
        reached_upward_(links.switches()),
        queued_(links.switches(), 0) {}

  void operator()(SwitchId destination, LinkSet& next) {
    hops_.assign(hops_.size(), kFar);
    least_.assign(least_.size(), kFar);
    least_[destination] = 0;
    reached_upward_[destination] = 1;
    queue_.assign(1, destination);
    while (!queue_.empty()) {
      const SwitchId at = queue_.front();
      queue_.pop_front();
      queued_[at] = 0;
      visit(at);
    }
    for (SwitchId s = 0; s < links_->switches(); ++s) {
      for (LinkId link = links_->begin(s); link < links_->end(s); ++link) {
        if (hops_[link] != kFar && hops_[link] == least_[s]) next.insert(s, link);
      }
    }
  }

 private:
  void visit(SwitchId at) {
    const bool upward = reached_upward_[at] != 0;
    const std::uint32_t hops = least_[at] + 1;
    for (LinkId link = links_->begin(at); link < links_->end(at); ++link) {
      if (!upward && up_[link] != 0) continue;
      const LinkId back = links_->reverse(link);
      if (hops >= hops_[back]) continue;
      const SwitchId far = links_->to(link);
      hops_[back] = hops;
      least_[far] = std::min(least_[far], hops);
      if (queued_[far] != 0) continue;
      queued_[far] = 1;
      reached_upward_[far] = up_[link];
      queue_.push_back(far);
    }
  }

  const SwitchLinks* links_;
  std::span<const std::uint8_t> up_;
  std::vector<std::uint32_t> hops_;   ///< by the link towards the destination
  std::vector<std::uint32_t> least_;  ///< by switch
  std::vector<std::uint8_t> reached_upward_;
  std::vector<std::uint8_t> queued_;
  std::deque<SwitchId> queue_;
};

/// Which links lead up: to a smaller rank, at equal ranks to the smaller GUID, between roots both.
std::vector<std::uint8_t> upward_links(const SwitchLinks& links, const Targets& targets,
                                       std::span<const SwitchId> roots) {
  const std::vector<std::uint32_t> rank = distances_from(links, roots);
  std::vector<std::uint8_t> up(links.links());
  for (LinkId link = 0; link < links.links(); ++link) {
    const SwitchId from = links.from(link);
    const SwitchId to = links.to(link);
    const bool roots_both = rank[from] == 0 && rank[to] == 0;
    up[link] = roots_both || rank[to] < rank[from] ||
               (rank[to] == rank[from] && targets.switch_guid[to] < targets.switch_guid[from]);
  }
  return up;
}

}  // namespace

Tables up_down(const Fabric& fabric, const Targets& targets, std::span<const SwitchId> roots) {
  for (const SwitchId root : roots) {
    if (root >= fabric.switches()) throw Error("a root is not a switch of the fabric");
  }
  const SwitchLinks links(fabric);
  const std::vector<std::uint8_t> up = upward_links(links, targets, roots);
  const MakeNextLinks make = [&] { return NextLinks(UpDownSearch(links, up)); };
  return least_loaded(fabric, links, targets, make, Spread::any);
}

}  // namespace contend
