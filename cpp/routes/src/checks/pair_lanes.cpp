#include "contend/routes/checks/pair_lanes.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/checks/channel_order.hpp"

namespace contend {

namespace {

/// Notes that each link of a route follows the one before; false, and nothing noted, where that
/// would close a circle.
bool admit(ChannelOrder& order, std::span<const LinkId> route) {
  for (std::size_t k = 1; k < route.size(); ++k) {
    if (order.insert(route[k - 1], route[k])) continue;
    while (--k > 0) order.remove(route[k - 1], route[k]);
    return false;
  }
  return true;
}

}  // namespace

PairLanes pair_lanes(const Fabric& fabric, const Resolver& resolver, const Places& places,
                     std::uint32_t most) {
  PairLanes found;
  std::vector<Place> source;
  std::vector<std::uint32_t> row_of_switch(fabric.switches(), 0xFFFFFFFF);
  const std::size_t count = places.hosts.size();
  for (Place place = 0; place < count; ++place) {
    // Which address a message is for then depends on its source, too.
    std::uint32_t own = 0xFFFFFFFF;
    std::uint32_t& row =
        places.spread ? own : row_of_switch[fabric.host_switch(places.hosts[place])];
    if (row == 0xFFFFFFFF) {
      row = static_cast<std::uint32_t>(source.size());
      source.push_back(place);
    }
    found.row_of.push_back(row);
  }
  found.lane.assign(source.size() * count, 0);
  const SwitchLinks links(fabric);
  const std::vector<std::uint32_t> alike(links.links(), 0);
  std::deque<ChannelOrder> orders;
  std::vector<Place> target(source.size());
  std::vector<std::uint32_t> ways(source.size() * resolver.stride());
  std::vector<LinkId> route;
  for (Place to = 0; to < count; ++to) {
    std::fill(target.begin(), target.end(), to);
    // What does not leave its switch has no way; a source stands for others there.
    std::vector<Place> from = source;
    for (Place& each : from) each = each == to ? (to == 0 ? Place(count - 1) : Place{0}) : each;
    if (count > 1) resolve_many(resolver, from, target, 0, ways.data());
    for (std::size_t row = 0; row < source.size() && count > 1; ++row) {
      if (source[row] == to) continue;
      route.clear();
      for (std::size_t k = 0; k < resolver.stride(); ++k) {
        const std::uint32_t channel = ways[row * resolver.stride() + k];
        if (channel >= resolver.switch_channels()) continue;
        const LinkId link =
            links.by_port(fabric.channel_from(channel), fabric.channel_from_port(channel));
        if (link != kNoLink) route.push_back(link);
      }
      if (route.size() < 2) continue;
      std::uint32_t lane = 0;
      for (;; ++lane) {
        if (lane == most)
          throw Error("as many virtual lanes as routes need, got " + std::to_string(most));
        if (lane == orders.size()) orders.emplace_back(links, alike);
        if (admit(orders[lane], route)) break;
      }
      found.lane[row * count + to] = static_cast<std::uint8_t>(lane);
      found.lanes = std::max(found.lanes, lane + 1);
    }
    if (to % 16 == 0) check_interruption();
  }
  return found;
}

}  // namespace contend
