#include <doctest/doctest.h>

#include <numeric>
#include <set>

#include "contend/base/error.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/search/table_steps.hpp"
#include "paper_fabrics.hpp"
#include "random_fabric.hpp"

using namespace contend;
using contend::test::Paper;

namespace {

struct State {
  std::uint64_t lost;
  std::uint64_t hops;  ///< over all routes
  bool circle;
};

State state_of(const Fabric& fabric, const Targets& targets, const Tables& tables) {
  const TableView view{tables.data(), fabric.switches(), targets.addresses};
  const RouteCheck seen = check_routes(fabric, view, targets.hosts, 0);
  std::uint64_t hops = 0;
  for (std::size_t k = 0; k < seen.hops.size(); ++k) hops += k * seen.hops[k];
  return {std::accumulate(seen.routes.begin() + 1, seen.routes.end(), std::uint64_t{0}), hops,
          !channel_dependencies(fabric, view, targets.hosts, false).cycle().empty()};
}

}  // namespace

TEST_CASE("of four hosts behind two cables, two move over, and no more than one if only one may") {
  const Paper paper({0, 0, 0, 0, 1, 1, 1, 1}, {1, 2, 3, 4, 1, 2, 3, 4}, {6, 6},
                    {{0, 5, 1, 5}, {0, 6, 1, 6}});
  Tables tables = minhop(paper.fabric, paper.targets());
  for (Address d = 5; d <= 8; ++d) tables[d] = 5;  // the first switch sends all by port 5
  const auto steps = table_steps(paper.fabric, paper.targets(), tables, {}, 10);
  REQUIRE(steps.size() == 2);
  for (const TableStep& step : steps) {
    CHECK(step.at == 0);
    CHECK(step.before == 5);
    CHECK(step.after == 6);
  }
  CHECK(steps[0].address != steps[1].address);
  CHECK(table_steps(paper.fabric, paper.targets(), tables, {}, 1).size() == 1);
}

TEST_CASE("no state on the way loses a route, closes a circle or makes routes longer") {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    const auto made = test::make_random_fabric(seed, 9, 20, 14);
    const std::vector<Address> switches(9, 0);
    const std::vector<std::uint64_t> guid(9, 0);
    const Targets targets{made.addresses(), switches, guid, guid, made.width};
    Tables tables = up_down(made.fabric, targets, std::vector<SwitchId>{0});
    State before = state_of(made.fabric, targets, tables);
    // The search of up_down may let a path pass that breaks its rule, or lose one.
    if (before.lost > 0 || before.circle) continue;
    std::set<std::pair<SwitchId, Address>> changed;
    for (const TableStep& step : table_steps(made.fabric, targets, tables, {}, 1000)) {
      PortNumber& entry = tables[step.at * made.width + step.address];
      CHECK(entry == step.before);
      CHECK(entry != step.after);
      entry = step.after;
      CHECK(changed.emplace(step.at, step.address).second);
      const State now = state_of(made.fabric, targets, tables);
      CHECK(now.lost == 0);
      CHECK_FALSE(now.circle);
      CHECK(now.hops <= before.hops);
      before = now;
    }
  }
}

TEST_CASE("tables that lose routes or have a circle already are refused") {
  const Paper ring = test::ring(5);
  Tables around = minhop(ring.fabric, ring.targets());
  for (SwitchId s = 0; s < 5; ++s) {
    for (Address d = 1; d <= 5; ++d) {
      if (d != s + 1) around[s * ring.targets().addresses + d] = 2;
    }
  }
  CHECK_THROWS_WITH_AS(table_steps(ring.fabric, ring.targets(), around, {}, 1),
                       "channels can wait for each other in a circle by these tables already",
                       Error);
  const Tables none(5 * ring.targets().addresses, kNoPort);
  CHECK_THROWS_WITH_AS(table_steps(ring.fabric, ring.targets(), none, {}, 1),
                       "by these tables not all routes between hosts arrive", Error);
  CHECK_THROWS_AS(table_steps(ring.fabric, ring.targets(), Tables(3), {}, 1), Error);
}

TEST_CASE("tables by which a route goes round and round are refused") {
  // Switches 0 and 1 send what is meant for the host on switch 3 to each other.
  const Paper ring = test::ring(5);
  Tables tables = minhop(ring.fabric, ring.targets());
  const auto towards = [&](SwitchId s, SwitchId peer) {
    PortNumber port = 1;
    while (ring.fabric.out(s, port) == kNoChannel ||
           !ring.fabric.is_switch_channel(ring.fabric.out(s, port)) ||
           ring.fabric.channel_to(ring.fabric.out(s, port)) != peer) {
      ++port;
    }
    return port;
  };
  const std::size_t addresses = ring.targets().addresses;
  tables[0 * addresses + 4] = towards(0, 1);
  tables[1 * addresses + 4] = towards(1, 0);
  CHECK_THROWS_WITH_AS(table_steps(ring.fabric, ring.targets(), tables, {}, 1),
                       "by these tables not all routes between hosts arrive", Error);
}
