#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "contend/fabric/dragonfly.hpp"

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

}  // namespace

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
