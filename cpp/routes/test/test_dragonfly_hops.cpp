#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "contend/fabric/dragonfly.hpp"
#include "contend/routes/ways/dragonfly_hops.hpp"
#include "contend/routes/ways/next_hops.hpp"

using namespace contend;

namespace {

struct Sizes {
  std::uint32_t switches, uplinks, groups;
};

/// By the definition: channel by channel, with one host on every switch.
std::vector<Cable> cables_of(const Sizes& sizes) {
  const auto [a, h, g] = sizes;
  const auto port = [](std::size_t number) { return static_cast<PortNumber>(number); };
  std::vector<Cable> cables;
  for (SwitchId first = 0; first < a * g; first += a) {
    for (SwitchId near = 0; near < a; ++near) {
      for (SwitchId far = near + 1; far < a; ++far) {
        cables.push_back({first + near, port(1 + far), first + far, port(2 + near)});
      }
    }
  }
  const std::uint32_t copies = g > 1 ? a * h / (g - 1) : 0;
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (SwitchId near = 0; near < g; ++near) {
      for (SwitchId far = near + 1; far < g; ++far) {
        const std::uint32_t there = copy * (g - 1) + far - 1, back = copy * (g - 1) + near;
        cables.push_back({near * a + there / h, port(1 + a + there % h), far * a + back / h,
                          port(1 + a + back % h)});
      }
    }
  }
  return cables;
}

Fabric fabric_of(const Sizes& sizes, const std::vector<Cable>& cables) {
  const std::size_t switches = sizes.switches * sizes.groups;
  std::vector<SwitchId> hosts(switches);
  for (SwitchId s = 0; s < switches; ++s) hosts[s] = s;
  const auto ports = static_cast<PortNumber>(sizes.switches + sizes.uplinks + 1);
  return {hosts, std::vector<PortNumber>(switches, 1), std::vector<PortNumber>(switches, ports),
          cables};
}

/// How many pairs of switches have other ways than next_hops() finds.
std::size_t different(const Fabric& fabric, const Dragonfly& dragonfly, bool by_groups) {
  Places places;
  std::vector<std::uint32_t> group;
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    places.hosts.push_back(host);
    if (by_groups) group.push_back(host / dragonfly.switches);
  }
  const NextHops next = next_hops(fabric, places, nullptr, group);
  const DragonflyHops hops(dragonfly, by_groups);
  CHECK(hops.longest(fabric, places.hosts) >= next.hops);
  DragonflyHops::Ways ways;
  std::size_t count = 0;
  for (SwitchId to = 0; to < fabric.switches(); ++to) {
    for (SwitchId from = 0; from < fabric.switches(); ++from) {
      if (from == to) continue;
      hops.find(hops.at(from), hops.at(to), ways);
      const std::span<const ChannelId> set =
          next.of_set(next.set_of[to * fabric.switches() + from]);
      const auto alike = [&](std::uint32_t way, ChannelId channel) {
        const DragonflyHops::Step step = hops.step(hops.at(from), way);
        return step.channel == channel && hops.switch_of(step.to) == fabric.channel_to(channel);
      };
      count += std::equal(ways.begin(), ways.end(), set.begin(), set.end(), alike) ? 0 : 1;
    }
  }
  return count;
}

void check(const Sizes& sizes) {
  CAPTURE(sizes.switches);
  CAPTURE(sizes.uplinks);
  CAPTURE(sizes.groups);
  const Fabric fabric = fabric_of(sizes, cables_of(sizes));
  const auto dragonfly = find_dragonfly(fabric);
  REQUIRE(dragonfly);
  CHECK(different(fabric, *dragonfly, false) == 0);
  // One group of all may also be groups of one.
  if (dragonfly->switches == sizes.switches) CHECK(different(fabric, *dragonfly, true) == 0);
}

}  // namespace

TEST_CASE("ways that are computed on dragonflies are those that a search finds") {
  // Some ways cross three global cables there.
  check({5, 3, 6});
  check({4, 5, 9});
  std::mt19937 draw(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(draw() % end); };
  for (int drawn = 0; drawn < 60; ++drawn) {
    const std::uint32_t a = 1 + below(9), h = 1 + below(6);
    const std::uint32_t g = 2 + below(std::min(a * h, 120 / a + 1));
    check({a, h, g});
  }
}

TEST_CASE("a dragonfly is known by all its cables") {
  const Sizes sizes{4, 2, 5};
  const std::vector<Cable> cables = cables_of(sizes);
  const auto found = find_dragonfly(fabric_of(sizes, cables));
  REQUIRE(found);
  CHECK(found->groups == 5);
  CHECK(found->switches == 4);
  CHECK(found->uplinks == 2);
  CHECK(found->copies == 2);
  for (std::size_t k = 0; k < cables.size(); ++k) {
    CAPTURE(k);
    // One cable less, one the other way round, and two that have changed an end.
    std::vector<Cable> changed = cables;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(k));
    CHECK(!find_dragonfly(fabric_of(sizes, changed)));
    changed = cables;
    std::swap(changed[k].from, changed[k].to);
    std::swap(changed[k].from_port, changed[k].to_port);
    CHECK(!find_dragonfly(fabric_of(sizes, changed)));
    changed = cables;
    Cable& other = changed[(k + 7) % cables.size()];
    std::swap(changed[k].to, other.to);
    std::swap(changed[k].to_port, other.to_port);
    CHECK(!find_dragonfly(fabric_of(sizes, changed)));
  }
  // Ports of a switch in another order.
  for (SwitchId s = 0; s < 20; ++s) {
    std::vector<Cable> changed = cables;
    for (Cable& cable : changed) {
      for (auto [at, port] :
           {std::pair{cable.from, &cable.from_port}, {cable.to, &cable.to_port}}) {
        if (at == s && (*port == 5 || *port == 6)) *port = static_cast<PortNumber>(11 - *port);
      }
    }
    CHECK(!find_dragonfly(fabric_of(sizes, changed)));
  }
  CHECK(!find_dragonfly(fabric_of({1, 0, 1}, {})));
}
