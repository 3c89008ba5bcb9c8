#include <doctest/doctest.h>

#include "contend/base/error.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "contend/routes/one_way/formulas.hpp"
#include "contend/routes/one_way/tree_formula.hpp"
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

Places all_hosts() { return {contend::test::in_order(8), false}; }

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
  CHECK(turn_entries(*found) == 8);
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
