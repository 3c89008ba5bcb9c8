#include <doctest/doctest.h>

#include <numeric>

#include "contend/base/error.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "contend/routes/computed/balanced_tree.hpp"
#include "contend/routes/computed/tree_formula.hpp"
#include "contend/routes/ways/route_trees.hpp"
#include "paper_fabrics.hpp"

using namespace contend;
using contend::test::Paper;

namespace {

/// Three levels of two children and two parents each, with two hosts a leaf and two cables between
/// middle and top switches: leaves 0-3, middle 4-7, tops 8-11.
std::vector<Cable> cables_of_three_levels() {
  std::vector<Cable> cables;
  const auto port = [](SwitchId number) { return static_cast<PortNumber>(number); };
  for (SwitchId leaf = 0; leaf < 4; ++leaf) {
    for (SwitchId up = 0; up < 2; ++up) {
      cables.push_back({leaf, port(3 + up), 4 + leaf / 2 * 2 + up, port(1 + leaf % 2)});
    }
  }
  for (SwitchId middle = 0; middle < 4; ++middle) {
    for (SwitchId up = 0; up < 4; ++up) {
      cables.push_back({4 + middle, port(3 + up), 8 + middle % 2 * 2 + up / 2,
                        port(1 + middle / 2 * 2 + up % 2)});
    }
  }
  return cables;
}

Paper tree(const std::vector<Cable>& cables) {
  return {{0, 0, 1, 1, 2, 2, 3, 3},
          {1, 2, 1, 2, 1, 2, 1, 2},
          {4, 4, 4, 4, 6, 6, 6, 6, 4, 4, 4, 4},
          cables};
}

Places all_hosts() {
  Places places;
  places.hosts.resize(8);
  std::iota(places.hosts.begin(), places.hosts.end(), HostId{0});
  return places;
}

}  // namespace

TEST_CASE("a complete tree is known by its cables") {
  const Paper paper = tree(cables_of_three_levels());
  const auto found = find_complete_tree(paper.fabric);
  REQUIRE(found);
  REQUIRE(found->steps.size() == 2);
  CHECK(found->leaves == 4);
  CHECK(found->top == 8);
  CHECK(found->steps[0].parents == 2);
  CHECK(found->steps[0].links == 1);
  CHECK(found->steps[1].first == 4);
  CHECK(found->steps[1].leaves == 2);
  CHECK(found->steps[1].planes == 2);
  CHECK(found->steps[1].parents == 2);
  CHECK(found->steps[1].links == 2);
  CHECK(found->steps[1].first_cable == 8);
}

TEST_CASE(
    "leaves of units, a rail each, are told by the spines above, and what shares core switches") {
  // Two units of two rails, with two spines a rail: leaves 0-3, spines 4-7, core switches 8 and 9.
  std::vector<Cable> cables;
  const auto port = [](SwitchId number) { return static_cast<PortNumber>(number); };
  for (SwitchId leaf = 0; leaf < 4; ++leaf) {
    for (SwitchId up = 0; up < 2; ++up) {
      cables.push_back({leaf, port(3 + up), 4 + leaf % 2 * 2 + up, port(1 + leaf / 2)});
    }
  }
  for (SwitchId spine = 0; spine < 4; ++spine) {
    for (SwitchId up = 0; up < 2; ++up) {
      cables.push_back({4 + spine, port(3 + up), 8 + up, port(1 + spine)});
    }
  }
  const Paper paper({0, 1, 2, 3}, {1, 1, 1, 1}, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, cables);
  const auto found = find_complete_tree(paper.fabric);
  REQUIRE(found);
  CHECK(found->place == std::vector<std::uint32_t>{0, 2, 1, 3});
  CHECK(found->shared());
  REQUIRE(found->steps.size() == 2);
  const CompleteTree::Step& step = found->steps[1];
  CHECK(step.planes == 2);
  CHECK(step.sharing == 2);
  CHECK(step.planes_above() == 2);
  for (std::uint32_t above = 0; above < 2; ++above) {
    for (std::uint32_t way = 0; way < step.ways_down(); ++way) {
      CHECK(step.plane_above(step.cable_down(above, way)) == above);
    }
  }
  const TurnsOf turns = turns_of_mod_k(paper.fabric, *found, Parallel::after_parents);
  CHECK_THROWS_AS(TreeFormula(paper.fabric, *found, {{0, 1, 2, 3}}, turns), Error);
}

TEST_CASE("a tree with a cable less, or two that are exchanged, is no complete one") {
  for (std::size_t k = 0; k < cables_of_three_levels().size(); ++k) {
    std::vector<Cable> fewer = cables_of_three_levels();
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    CHECK_FALSE(find_complete_tree(tree(fewer).fabric));
  }
  std::vector<Cable> crossed = cables_of_three_levels();
  std::swap(crossed[0].to, crossed[1].to);
  CHECK_FALSE(find_complete_tree(tree(crossed).fabric));
  std::vector<Cable> turned = cables_of_three_levels();
  std::swap(turned[8].from_port, turned[9].from_port);
  CHECK_FALSE(find_complete_tree(tree(turned).fabric));
}

TEST_CASE("the formula goes from every leaf by the channels that the tables name") {
  const Paper paper = tree(cables_of_three_levels());
  const auto found = find_complete_tree(paper.fabric);
  REQUIRE(found);
  for (const Parallel parallel : {Parallel::after_parents, Parallel::in_order_of_ports}) {
    const Tables tables = d_mod_k(paper.fabric, paper.targets(), parallel);
    const TreeFormula formula(paper.fabric, *found, all_hosts(),
                              turns_of_mod_k(paper.fabric, *found, parallel));
    for (HostId to = 0; to < 8; ++to) {
      for (SwitchId at : {0U, 1U, 2U, 3U}) {
        for (std::size_t hops = 0; hops < 6; ++hops) {
          const Step step = formula.next(at, to);
          const Step named =
              Step::by(paper.fabric, at, paper.port(tables, at, paper.host_address[to]), to);
          REQUIRE(step.onward.ends() == named.onward.ends());
          if (step.onward.ends()) break;
          CHECK(step.channel == named.channel);
          at = step.onward.to();
        }
      }
    }
  }
}

TEST_CASE("a tree of another fabric is refused") {
  const Paper paper = tree(cables_of_three_levels());
  const Paper small({0, 1}, {1, 1}, {2, 2, 2}, {{0, 2, 2, 1}, {1, 2, 2, 2}});
  const auto other = find_complete_tree(small.fabric);
  REQUIRE(other);
  CHECK_THROWS_AS(turns_of_mod_k(paper.fabric, *other, Parallel::after_parents), Error);
  const TurnsOf turns =
      turns_of_mod_k(paper.fabric, *find_complete_tree(paper.fabric), Parallel::after_parents);
  CHECK_THROWS_AS(TreeFormula(paper.fabric, *other, all_hosts(), turns), Error);
}

TEST_CASE("hosts in turns take the channels that the tables name, whoever puts them off") {
  // Two hosts a leaf go round the two cables up from it, but not the four above; with a host less
  // on some leaves these end in between, too.
  const std::vector<Cable> cables = cables_of_three_levels();
  const Paper uneven({0, 0, 1, 2, 2, 3}, {1, 2, 1, 1, 2, 1}, {4, 4, 4, 4, 6, 6, 6, 6, 4, 4, 4, 4},
                     cables);
  for (const Paper& paper : {tree(cables), uneven}) {
    const auto found = find_complete_tree(paper.fabric);
    REQUIRE(found);
    CHECK(turn_entries(*found) == 8);
    Places places;
    places.hosts.resize(paper.fabric.hosts());
    std::iota(places.hosts.begin(), places.hosts.end(), HostId{0});
    const Tables tables = minhop(paper.fabric, paper.targets());
    const auto resolver =
        make_balanced_tree_resolver(paper.fabric, *found, paper.targets(), places);
    RouteTrees::Grower grower(*resolver->trees());
    const std::vector<SwitchId> leaves = {0, 1, 2, 3};
    for (Place to = 0; to < places.hosts.size(); ++to) {
      std::vector<Step> steps;
      grower.grow({&to, 1}, leaves, [&](Place, const InTree&, std::span<const Step> told) {
        steps.assign(told.begin(), told.end());
      });
      for (Place from = 0; from < places.hosts.size(); ++from) {
        if (from == to) continue;
        std::vector<std::uint32_t> route(resolver->stride());
        resolver->resolve({&from, 1}, {&to, 1}, route.data());
        std::erase_if(route, [&](std::uint32_t c) { return c >= resolver->switch_channels(); });
        SwitchId at = paper.fabric.host_switch(from);
        for (const std::uint32_t channel : route) {
          const PortNumber port = paper.port(tables, at, paper.host_address[to]);
          REQUIRE(paper.fabric.out(at, port) == channel);
          REQUIRE(steps[at].channel == channel);
          at = paper.fabric.channel_to(channel);
        }
        CHECK(at == paper.fabric.host_switch(to));
        CHECK(steps[at].onward.ends());
      }
    }
  }
}
