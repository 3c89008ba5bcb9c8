#include "beginnings.hpp"

#include <algorithm>
#include <numeric>

#include "contend/base/progress.hpp"
#include "up_down_ways.hpp"

namespace contend {

namespace {

/// Destinations of a lane that need turns which are not in its order, taken off the links; the
/// turns of the others are noted.
std::vector<std::size_t> take_out_bound(Routing& routing, std::uint8_t lane) {
  std::vector<std::size_t> out;
  const ChannelOrder& order = routing.orders[lane];
  for (std::size_t d = 0; d < routing.lane.size(); ++d) {
    if (routing.lane[d] != lane) continue;
    bool kept = true;
    routing.traffic.walk(d, [&](SwitchId, LinkId link, LinkId before) {
      kept &= before == kNoLink || order.has(before, link);
    });
    if (kept) {
      routing.note(d);
    } else {
      routing.traffic.remove(d);
      out.push_back(d);
    }
  }
  return out;
}

}  // namespace

bool Routing::place(std::size_t d, CircleFreeSearch& search) {
  if (!search.find(traffic, d, &orders[lane[d]])) return false;
  traffic.set(d, search.out());
  note(d);
  traffic.add(d);
  return true;
}

Routing Beginnings::within_heaviest_turns(const Routing& unbound, SwitchId root) const {
  Routing routing = unbound;
  const std::vector<LinkId> parent = spanning_tree(root);
  for (std::uint8_t lane = 0; lane < routing.orders.size(); ++lane) {
    ChannelOrder& order = routing.orders[lane];
    order = ChannelOrder(*links_, ranks_towards(*links_, root));
    Turns kept = turns_of(parent);
    for (const auto& [first, next] : kept) order.insert(first, next);
    for (const auto& turn : heaviest_turns(routing, lane)) {
      if (order.insert(turn.first, turn.second)) kept.push_back(turn);
    }
    const std::vector<std::size_t> out = take_out_bound(routing, lane);
    for (const std::size_t k : InParts(out.size())) {
      const std::size_t d = out[k];
      if (routing.place(d, *search_)) continue;
      set_along(routing.traffic, d, parent);
      routing.note(d);
      routing.traffic.add(d);
    }
    for (const auto& [first, next] : kept) order.remove(first, next);
  }
  return routing;
}

Routing Beginnings::within_spanning_tree(const Routing& unrouted, SwitchId root) const {
  Routing routing = unrouted;
  const std::vector<LinkId> parent = spanning_tree(root);
  for (ChannelOrder& order : routing.orders) {
    order = ChannelOrder(*links_, ranks_towards(*links_, root));
  }
  // Nothing is on the links, so that what is routed first does not shun the tree.
  for (std::size_t d = 0; d < routing.lane.size(); ++d) {
    set_along(routing.traffic, d, parent);
    routing.note(d);
  }
  for (const std::size_t k : InParts(routing.lane.size())) {
    const std::size_t d = routing.traffic.by_switch()[k];
    routing.forget(d);
    if (routing.place(d, *search_)) continue;
    routing.note(d);
    routing.traffic.add(d);
  }
  return routing;
}

/// A spanning tree of every part of the fabric, breadth first: the link of each switch towards the
/// root, kNoLink at a root.
std::vector<LinkId> Beginnings::spanning_tree(SwitchId root) const {
  std::vector<LinkId> parent(links_->switches(), kNoLink);
  std::vector<bool> seen(links_->switches(), false);
  std::vector<SwitchId> roots(links_->switches());
  std::iota(roots.begin(), roots.end(), SwitchId{0});
  std::swap(roots.front(), roots[root]);
  std::vector<SwitchId> reached;
  for (const SwitchId first : roots) {
    if (seen[first]) continue;
    seen[first] = true;
    reached.assign(1, first);
    for (std::size_t head = 0; head < reached.size(); ++head) {
      for (LinkId link = links_->begin(reached[head]); link < links_->end(reached[head]); ++link) {
        const SwitchId far = links_->to(link);
        if (seen[far]) continue;
        seen[far] = true;
        parent[far] = links_->reverse(link);
        reached.push_back(far);
      }
    }
  }
  return parent;
}

/// All turns between links of a spanning tree.
Beginnings::Turns Beginnings::turns_of(const std::vector<LinkId>& parent) const {
  Turns turns;
  const auto belongs = [&](SwitchId s, LinkId link) {
    return parent[s] == link || parent[links_->to(link)] == links_->reverse(link);
  };
  for (SwitchId s = 0; s < links_->switches(); ++s) {
    for (LinkId in = links_->begin(s); in < links_->end(s); ++in) {
      if (!belongs(s, in)) continue;
      for (LinkId out = links_->begin(s); out < links_->end(s); ++out) {
        if (out != in && belongs(s, out)) turns.emplace_back(links_->reverse(in), out);
      }
    }
  }
  return turns;
}

/// The turns that the routes of a lane take, those that carry most first.
Beginnings::Turns Beginnings::heaviest_turns(const Routing& routing, std::uint8_t lane) const {
  std::vector<std::size_t> begin;
  Turns turns;
  for (LinkId first = 0; first < links_->links(); ++first) {
    begin.push_back(turns.size());
    const SwitchId at = links_->to(first);
    for (LinkId next = links_->begin(at); next < links_->end(at); ++next) {
      turns.emplace_back(first, next);
    }
  }
  std::vector<std::uint64_t> carried(turns.size(), 0);
  const auto place = [&](LinkId first, LinkId next) {
    return begin[first] + (next - links_->begin(links_->to(first)));
  };
  for (std::size_t d = 0; d < routing.lane.size(); ++d) {
    if (routing.lane[d] != lane) continue;
    routing.traffic.walk(d, [&](SwitchId source, LinkId link, LinkId before) {
      if (before != kNoLink) carried[place(before, link)] += routing.traffic.sent(d, source);
    });
  }
  std::erase_if(turns,
                [&](const auto& turn) { return carried[place(turn.first, turn.second)] == 0; });
  std::ranges::stable_sort(turns, std::ranges::greater{}, [&](const auto& turn) {
    return carried[place(turn.first, turn.second)];
  });
  return turns;
}

/// Routes destination d along the spanning tree.
void Beginnings::set_along(RoutedTraffic& traffic, std::size_t d,
                           const std::vector<LinkId>& parent) const {
  traffic.set(d, parent);
  for (SwitchId s = traffic.at(d); parent[s] != kNoLink; s = links_->to(parent[s])) {
    traffic.set(d, links_->to(parent[s]), links_->reverse(parent[s]));
  }
  traffic.set(d, traffic.at(d), kNoLink);
}

}  // namespace contend
