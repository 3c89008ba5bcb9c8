#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/engines/engines.hpp"
#include "paper_fabrics.hpp"
#include "random_fabric.hpp"

using namespace contend;
using contend::test::Paper;

TEST_CASE("in a ring no path leads past the switch farthest from the root") {
  // Ranks from root 0 around a ring of six: 0 1 2 3 2 1. Switch 3 is the bottom.
  const Paper paper = test::ring(6);
  const SwitchId root = 0;
  const Tables tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  // 2 to 4 over 3 would go down, then up: it takes the long way over 1, 0 and 5 (port 3 backwards).
  CHECK(paper.port(tables, 2, 5) == 3);
  CHECK(paper.port(tables, 1, 5) == 3);
  CHECK(paper.port(tables, 0, 5) == 3);
  CHECK(paper.port(tables, 5, 5) == 3);
  // minhop takes it.
  CHECK(paper.port(minhop(paper.fabric, paper.targets()), 2, 5) == 2);
  // From the bottom itself both ways up are open.
  CHECK(paper.port(tables, 3, 5) == 2);
  CHECK(paper.port(tables, 3, 3) == 3);
}

TEST_CASE("between equal ranks the switch with the smaller GUID is up") {
  // A ring of five: ranks 0 1 2 2 1; the cable between 2 and 3 joins equal ranks.
  Paper paper = test::ring(5);
  const SwitchId root = 0;
  // 3 is below 2, so 2 to 4 over 3 would go down, then up.
  Tables tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  CHECK(paper.port(tables, 2, 5) == 3);
  // 4 to 2 over 3 likewise, 1 to 3 over 2 goes down twice.
  CHECK(paper.port(tables, 4, 3) == 2);
  CHECK(paper.port(tables, 1, 4) == 2);
  std::swap(paper.guid[2], paper.guid[3]);
  // Now 2 is below 3, and 1 to 3 over 2 would go down, then up.
  tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  CHECK(paper.port(tables, 1, 4) == 3);
  CHECK(paper.port(tables, 4, 3) == 3);
}

TEST_CASE("roots are the switches with nearly all hosts at one distance") {
  const Paper figure = test::figure();
  CHECK(find_roots(figure.fabric) == std::vector<SwitchId>{4, 5});
  const Paper ring = test::ring(6);
  CHECK(find_roots(ring.fabric).empty());
}

namespace {

/// Hosts by their distance from a switch, up to 63.
std::vector<std::size_t> hosts_at(const Fabric& fabric, SwitchId from) {
  std::vector<std::size_t> distance(fabric.switches(), fabric.switches()), at(64, 0);
  distance[from] = 0;
  for (std::size_t round = 0; round < at.size(); ++round) {
    for (ChannelId c = 0; c < fabric.switch_channels(); ++c) {
      std::size_t& far = distance[fabric.channel_to(c)];
      far = std::min(far, distance[fabric.channel_from(c)] + 1);
    }
  }
  for (const SwitchId s : fabric.host_switches()) {
    if (distance[s] < at.size()) ++at[distance[s]];
  }
  return at;
}

/// Roots by the definition, one switch after the other.
std::vector<SwitchId> counted_roots(const Fabric& fabric) {
  std::vector<SwitchId> roots;
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    const std::vector<std::size_t> at = hosts_at(fabric, s);
    const auto more_than = [&](std::size_t percent) {
      return std::ranges::count_if(at, [&](auto n) { return 100 * n > percent * fabric.hosts(); });
    };
    if (more_than(90) == 1 && more_than(5) == 1) roots.push_back(s);
  }
  return roots;
}

/// A path of switches with one host on the first and the others in the middle and on the last.
Fabric path(SwitchId switches, HostId in_the_middle, HostId at_the_end) {
  std::vector<PortNumber> used(switches, 2);
  std::vector<Cable> cables;
  for (SwitchId s = 1; s < switches; ++s) cables.push_back({s - 1, 2, s, 1});
  std::vector<SwitchId> host_switch{0};
  host_switch.resize(1 + in_the_middle, switches / 2);
  host_switch.resize(1 + in_the_middle + at_the_end, switches - 1);
  std::vector<PortNumber> host_port;
  for (const SwitchId s : host_switch) host_port.push_back(++used[s]);
  return {host_switch, host_port, used, cables};
}

}  // namespace

TEST_CASE("searches that go on together find the roots that each would find alone") {
  std::size_t found = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const SwitchId switches = 2 + seed % 7 * 3;
    // With few hosts, most of them are often on one switch or at one distance.
    const Fabric random =
        test::make_random_fabric(seed, switches, 1 + seed % 5, seed % 11 * switches / 4).fabric;
    const std::vector<SwitchId> roots = counted_roots(random);
    found += roots.size();
    CHECK(find_roots(random) == roots);
  }
  CHECK(found > 100);
  // More switches than are searched from together, and hosts farther away than is looked.
  const Fabric longer = path(300, 30, 1);
  const std::vector<SwitchId> roots = counted_roots(longer);
  CHECK(roots.size() == 127);
  CHECK(find_roots(longer) == roots);
  // 1 of 20 hosts is not more than 5 %, 2 of 31 are.
  CHECK(find_roots(path(7, 18, 1)) == counted_roots(path(7, 18, 1)));
  CHECK(find_roots(path(7, 19, 0)).size() == 7);
  CHECK(find_roots(path(7, 29, 1)).size() == 6);
}

TEST_CASE("on a tree, up-down takes hosts where minhop does, and no root reaches another") {
  const Paper paper = test::figure();
  const std::vector<SwitchId> roots = {4, 5};
  const Tables tables = up_down(paper.fabric, paper.targets(), roots);
  const Tables shortest = minhop(paper.fabric, paper.targets());
  for (SwitchId s = 0; s < 6; ++s) {
    for (const Address host : paper.host_address) {
      CHECK(paper.port(tables, s, host) == paper.port(shortest, s, host));
    }
  }
  CHECK(paper.port(tables, 4, paper.switch_address[5]) == kNoPort);
}

TEST_CASE("a root beyond the fabric is refused") {
  const Paper paper = test::ring(4);
  const SwitchId root = 4;
  CHECK_THROWS_AS(up_down(paper.fabric, paper.targets(), std::span(&root, 1)), Error);
}
