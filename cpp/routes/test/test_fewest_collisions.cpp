#include <doctest/doctest.h>

#include <chrono>
#include <numeric>
#include <set>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/search/fewest_collisions.hpp"
#include "paper_fabrics.hpp"
#include "random_fabric.hpp"

using namespace contend;
using contend::test::Paper;

namespace {

/// Any fabric as paper: hosts have the addresses 1 .. hosts.
Paper paper_of(const Fabric& fabric) {
  std::vector<PortNumber> host_port;
  std::vector<PortNumber> ports;
  std::vector<Cable> cables;
  for (HostId h = 0; h < fabric.hosts(); ++h) host_port.push_back(fabric.host_port(h));
  for (SwitchId s = 0; s < fabric.switches(); ++s) ports.push_back(fabric.switch_ports(s));
  for (ChannelId c = 0; c < fabric.switch_channels(); c += 2) {
    cables.push_back({fabric.channel_from(c), fabric.channel_from_port(c), fabric.channel_to(c),
                      fabric.channel_to_port(c)});
  }
  const auto at = fabric.host_switches();
  return {{at.begin(), at.end()}, host_port, ports, cables};
}

/// Routes that do not arrive.
std::uint64_t lost(const Paper& paper, const Tables& tables) {
  const TableView view{tables.data(), paper.fabric.switches(), paper.targets().addresses};
  const RouteCheck seen = check_routes(paper.fabric, view, paper.targets().hosts, 0);
  return std::accumulate(seen.routes.begin() + 1, seen.routes.end(), std::uint64_t{0});
}

bool has_circle(const Paper& paper, const LanedTables& made) {
  const TableView view{made.tables.data(), paper.fabric.switches(), paper.targets().addresses};
  for (std::uint8_t lane = 0; lane < 15; ++lane) {
    const auto found =
        channel_dependencies(paper.fabric, view, paper.targets().hosts, false, {lane, made.lane});
    if (!found.cycle().empty()) return true;
  }
  return false;
}

/// Switches with two hosts each in a grid that wraps around.
Paper torus(SwitchId rows, SwitchId columns) {
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  std::vector<Cable> cables;
  for (SwitchId s = 0; s < rows * columns; ++s) {
    for (PortNumber k = 1; k <= 2; ++k) {
      host_switch.push_back(s);
      host_port.push_back(k);
    }
    const SwitchId right = s / columns * columns + (s + 1) % columns;
    cables.push_back({s, 3, right, 4});
    cables.push_back({s, 5, (s + columns) % (rows * columns), 6});
  }
  return {host_switch, host_port, std::vector<PortNumber>(rows * columns, 6), cables};
}

}  // namespace

TEST_CASE("a full tree keeps what destination-mod-k gives it, as nothing collides less") {
  const Paper paper = test::figure();
  const Tables expected = d_mod_k(paper.fabric, paper.targets(), Parallel::after_parents);
  CHECK(fewest_collisions(paper.fabric, paper.targets(), {}).tables == expected);
}

TEST_CASE("everybody reaches everybody, without a circle, on fabrics cabled at random") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const Paper paper = paper_of(test::make_random_fabric(seed, 2 + seed % 17, 12, seed).fabric);
    for (const std::uint32_t lanes : {1U, 3U}) {
      const auto made = fewest_collisions(paper.fabric, paper.targets(), {{}, {}, lanes});
      CAPTURE(seed);
      CHECK(lost(paper, made.tables) == 0);
      CHECK_FALSE(has_circle(paper, made));
    }
  }
}

TEST_CASE("every switch has an entry for every host and switch, used or not") {
  const Paper paper = paper_of(test::make_random_fabric(3, 12, 5, 9).fabric);
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {});
  for (SwitchId s = 0; s < 12; ++s) {
    for (Address address = 1; address <= 17; ++address) {
      CHECK(paper.port(made.tables, s, address) != kNoPort);
    }
  }
}

TEST_CASE("a torus needs several lanes for shortest paths, and is free of circles on one") {
  const Paper paper = torus(5, 5);
  const auto one = fewest_collisions(paper.fabric, paper.targets(), {});
  CHECK(std::ranges::all_of(one.lane, [](std::uint8_t lane) { return lane == 0; }));
  CHECK_FALSE(has_circle(paper, one));
  const auto eight = fewest_collisions(paper.fabric, paper.targets(), {{}, {}, 8});
  CHECK(std::ranges::max(eight.lane) <= 7);
  CHECK_FALSE(has_circle(paper, eight));
  // Without its lanes it is not: minimal routes go round the rings.
  CHECK(has_circle(paper, {eight.tables, {}}));
}

TEST_CASE("the same again") {
  const Paper paper = torus(4, 5);
  const auto once = fewest_collisions(paper.fabric, paper.targets(), {{}, {}, 2});
  const auto again = fewest_collisions(paper.fabric, paper.targets(), {{}, {}, 2});
  CHECK(once.tables == again.tables);
  CHECK(once.lane == again.lane);
}

TEST_CASE("a cable three times as slow gets a third of what its fast neighbour carries") {
  // Two leaves of four hosts, a slow cable and a fast one between them.
  std::vector<SwitchId> at{0, 0, 0, 0, 1, 1, 1, 1};
  const Paper paper(at, {1, 2, 3, 4, 1, 2, 3, 4}, {6, 6}, {{0, 5, 1, 5}, {0, 6, 1, 6}});
  const std::vector<std::uint32_t> cost{3, 1};
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {cost, {}, 1});
  int slow = 0;
  for (Address d = 5; d <= 8; ++d) slow += paper.port(made.tables, 0, d) == 5;
  CHECK(slow == 1);
}

TEST_CASE("the two hosts that much is sent to get a cable each") {
  std::vector<SwitchId> at{0, 0, 0, 0, 1, 1, 1, 1};
  const Paper paper(at, {1, 2, 3, 4, 1, 2, 3, 4}, {6, 6}, {{0, 5, 1, 5}, {0, 6, 1, 6}});
  // Rows are hosts that are sent to, columns switches that send: hosts 4 and 6 get a hundred.
  std::vector<std::uint32_t> demand(16, 1);
  demand[std::size_t{4} * 2] = demand[std::size_t{6} * 2] = 100;
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {{}, demand, 1});
  CHECK(paper.port(made.tables, 0, 5) != paper.port(made.tables, 0, 7));
}

TEST_CASE("several addresses of a host come by different tops") {
  Paper paper = test::figure();
  for (HostId h = 0; h < 16; ++h) {
    paper.host_address[h] = 2 * (h + 1);
    paper.host_lmc[h] = 1;
  }
  for (SwitchId s = 0; s < 6; ++s) paper.switch_address[s] = 40 + s;
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {});
  for (HostId h = 0; h < 16; ++h) {
    for (SwitchId leaf = 0; leaf < 4; ++leaf) {
      if (leaf == h / 4) continue;
      std::set<int> tops;
      for (Address k = 0; k < 2; ++k) {
        tops.insert((paper.port(made.tables, leaf, 2 * (h + 1) + k) - 5) / 2);
      }
      CHECK(tops.size() == 2);
    }
  }
}

TEST_CASE("a tree with a host on a top switch keeps all its tops in use") {
  // Four leaves of three hosts under three tops, and one more host on the last top.
  std::vector<SwitchId> at;
  std::vector<PortNumber> port;
  std::vector<Cable> cables;
  for (SwitchId leaf = 0; leaf < 4; ++leaf) {
    for (PortNumber k = 1; k <= 3; ++k) {
      at.push_back(leaf);
      port.push_back(k);
      cables.push_back(
          {leaf, static_cast<PortNumber>(k + 3), 3U + k, static_cast<PortNumber>(leaf + 1)});
    }
  }
  at.push_back(6);
  port.push_back(5);
  const Paper paper(at, port, std::vector<PortNumber>(7, 6), cables);
  REQUIRE(tree_fault(paper.fabric).empty());
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {});
  CHECK(lost(paper, made.tables) == 0);
  CHECK_FALSE(has_circle(paper, made));
  for (SwitchId leaf = 1; leaf < 4; ++leaf) {
    std::set<PortNumber> used;
    for (Address d = 1; d <= 3; ++d) used.insert(paper.port(made.tables, leaf, d));
    CHECK(used.size() == 3);
  }
}

TEST_CASE("parts that nothing joins are routed each by itself") {
  const Paper paper({0, 1, 2, 3}, {1, 1, 1, 1}, {2, 2, 2, 2}, {{0, 2, 1, 2}, {2, 2, 3, 2}});
  const auto made = fewest_collisions(paper.fabric, paper.targets(), {});
  CHECK(paper.port(made.tables, 0, 2) == 2);
  CHECK(paper.port(made.tables, 3, 3) == 2);
  CHECK(paper.port(made.tables, 0, 3) == kNoPort);
}

TEST_CASE("what does not fit the fabric is refused") {
  const Paper paper = test::figure();
  const std::vector<std::uint32_t> wrong(5, 1);
  CHECK_THROWS_AS(fewest_collisions(paper.fabric, paper.targets(), {wrong, {}, 1}), Error);
  CHECK_THROWS_AS(fewest_collisions(paper.fabric, paper.targets(), {{}, wrong, 1}), Error);
  CHECK_THROWS_AS(fewest_collisions(paper.fabric, paper.targets(), {{}, {}, 0}), Error);
  CHECK_THROWS_AS(fewest_collisions(paper.fabric, paper.targets(), {{}, {}, 16}), Error);
}

namespace {

std::vector<double> told;

void tell() { told.push_back(share_done()); }

}  // namespace

TEST_CASE("how far all is counts every round that it takes") {
  const Paper paper = torus(4, 5);
  told.clear();
  {
    const Interruption each(tell, std::chrono::nanoseconds{0});
    fewest_collisions(paper.fabric, paper.targets(), {});
  }
  // All is one piece of work, but for a look whether dimension order will do: what it took so far
  // tells the rest.
  const auto all = std::ranges::is_sorted_until(told.rbegin(), told.rend(), std::greater{}).base();
  CHECK(all - told.begin() < told.end() - all);
  CHECK(told.back() > 0.9);
  const auto halfway = std::ranges::lower_bound(all, told.end(), 0.5) - all;
  CHECK(4 * halfway > told.end() - all);
  CHECK(4 * halfway < 3 * (told.end() - all));
}
