// Every long loop of the core can be interrupted.

#include <doctest/doctest.h>
#include <omp.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../../routes/test/paper_fabrics.hpp"
#include "contend/base/interruption.hpp"
#include "contend/congestion/channel_users.hpp"
#include "contend/congestion/failures.hpp"
#include "contend/congestion/messages.hpp"
#include "contend/congestion/reach.hpp"
#include "contend/congestion/seats.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/fabric/levels.hpp"
#include "contend/fabric/minimum_cut.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/drawn/hashed_resolver.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/engines/mend.hpp"
#include "contend/routes/search/fewest_collisions.hpp"
#include "contend/routes/search/table_steps.hpp"
#include "contend/routes/split/valiant.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/together/ideal_ways.hpp"
#include "contend/schedule/carry_calls.hpp"
#include "contend/schedule/phases_by_routes.hpp"
#include "written_schedule.hpp"

using namespace contend;

namespace {

struct Ended {};

int asks = 0;
int asks_left = 0;

void count_asks() { ++asks; }
void end_when_asked_enough() {
  if (asks_left-- == 0) throw Ended();
}

/// The 16-node figure, all that is routed on it, and messages between its hosts.
struct Figure {
  Figure() : paper(contend::test::figure()), targets(paper.targets()) {
    std::iota(hosts.begin(), hosts.end(), HostId{0});
    tables = d_mod_k(paper.fabric, targets, Parallel::in_order_of_ports);
    resolver = make_walking_resolver(paper.fabric, view(), targets.hosts, places());
    for (std::uint32_t host = 0; host < 16; ++host) {
      leaf.push_back(host / 4);
      phase.push_back(host % 2);
      target.push_back((host + 5) % 16);
      ones.push_back(1);
      bytes.push_back(1 + host);
    }
    groups.assign(tables.size(), 0);
    seconds.assign(resolver->switch_channels() + 32, 1);
  }

  TableView view() const { return {tables.data(), 6, targets.addresses}; }
  /// No entry has a group.
  GroupView group_view() const { return {groups.data(), no_groups, {}}; }
  Places places() const { return {hosts, false}; }
  PhasedTraffic traffic() const { return {16, 2, phase, hosts, target, bytes}; }

  contend::test::Paper paper;
  Targets targets;
  Tables tables;
  std::vector<std::uint16_t> groups;
  std::vector<std::uint32_t> no_groups{0, 0};
  std::vector<HostId> hosts = std::vector<HostId>(16);
  std::unique_ptr<Resolver> resolver;
  std::vector<std::uint32_t> leaf, phase, target, ones;
  std::vector<double> bytes, seconds;
};

/// What can last, and how often it must ask at least: as often as it has pieces.
struct Loop {
  std::string name;
  int pieces;
  std::function<void()> run;
};

template <class Call>
Loop loop(const char* name, int pieces, const Call& call) {
  return {name, pieces, [call] { static_cast<void>(call()); }};
}

void add_routes(const Figure& on, std::vector<Loop>& loops) {
  const Fabric& fabric = on.paper.fabric;
  const Targets& targets = on.targets;
  const std::vector<SwitchId> roots{4, 5};
  // Of a complete tree they need no search.
  loops.push_back(loop("levels", 4, [] { return find_levels(contend::test::ring(6).fabric); }));
  loops.push_back(loop("minimum cut", 2, [] {
    const std::vector<std::uint32_t> tail{0, 1};
    const std::vector<std::uint32_t> head{1, 2};
    const std::vector<std::int64_t> limit{3, 2};
    return minimum_cut({3, tail, head, limit}, 0, 2);
  }));
  loops.push_back(loop("minhop", 4 + 6 + 6, [&] { return minhop(fabric, targets); }));
  loops.push_back(loop("dor", 4 + 6 + 6, [&] { return dimension_order(fabric, targets); }));
  loops.push_back(loop("updn", 4 + 6 + 6, [&, roots] { return up_down(fabric, targets, roots); }));
  loops.push_back(loop("roots", 1 + 3, [&] { return find_roots(fabric); }));
  loops.push_back(loop("destination-mod-k", 6 + 6,
                       [&] { return d_mod_k(fabric, targets, Parallel::after_parents); }));
  loops.push_back(
      loop("fewest collisions", 16, [&] { return fewest_collisions(fabric, targets, {}); }));
  loops.push_back(
      loop("table steps", 16, [&] { return table_steps(fabric, targets, on.tables, {}, 9); }));
  loops.push_back(loop("mend", 16, [&] { return mend(fabric, targets, on.tables); }));
  loops.push_back(
      loop("check", 1, [&] { return check_routes(fabric, on.view(), targets.hosts, 1); }));
  loops.push_back(loop("dependencies", 1 + 24, [&] {
    return channel_dependencies(fabric, on.view(), targets.hosts, false).cycle();
  }));
  loops.push_back(loop("longest route", 16, [&] {
    return longest_route(fabric, on.view(), targets.hosts, on.places());
  }));
  loops.push_back(loop("route table", 16 + 4, [&] {
    return make_tabled_resolver(fabric, on.view(), targets.hosts, on.places());
  }));
  loops.push_back(loop("next hops", 4, [&] { return next_hops(fabric, on.places()); }));
  loops.push_back(loop("next hops by groups", 1 + 4, [&] {
    return next_hops(fabric, on.view(), on.group_view(), targets.hosts, on.places());
  }));
  loops.push_back(loop("check of ways", 1 + 4, [&] {
    return check_ways(fabric, on.view(), on.group_view(), targets.hosts, 1);
  }));
  loops.push_back(loop("sprayed routes", 4 + 4, [&] {
    return make_sprayed_resolver(fabric, on.places(), next_hops(fabric, on.places()));
  }));
  loops.push_back(loop("lists of sprayed routes", 4 + 4 + 4 + 4 + 4, [&] {
    const auto resolver =
        make_sprayed_resolver(fabric, on.places(), next_hops(fabric, on.places()));
    return resolver->ways()->part_lists() != nullptr;
  }));
  loops.push_back(loop("routes by any switch", 4 + 1 + 4,
                       [&] { return make_valiant_resolver(fabric, on.places(), {}); }));
  const std::vector<std::uint32_t> groups{0, 0, 1, 1, 0, 1};
  loops.push_back(loop("routes by any group", 4 + 1 + 6 + 4,
                       [&, groups] { return make_valiant_resolver(fabric, on.places(), groups); }));
}

void add_congestion(const Figure& on, std::vector<Loop>& loops) {
  const Seating seating{on.hosts, 1, false};
  const std::vector<std::uint32_t> channels{0, 1};
  const auto all = [] { return std::shared_ptr<const Pattern>(make_all_to_all(16)); };
  const auto bisect = [] { return std::shared_ptr<const Pattern>(make_bisect(16, false)); };
  // Few targets are one piece, counted and judged.
  loops.push_back(loop("exchange", 2, [&, seating, all = all()] {
    return simulate(*on.resolver, *all, seating, {1, 0, 1, false}, 1);
  }));
  const std::shared_ptr<const Resolver> hashed =
      make_hashed_resolver(on.paper.fabric, on.places(), next_hops(on.paper.fabric, on.places()));
  loops.push_back(loop("rounds in pieces", 2 * 16, [=, all = all()] {
    return simulate(*hashed, *all, seating, {1, 0, 1, false}, 1);
  }));
  loops.push_back(loop("samples", 20, [&, seating, bisect = bisect()] {
    return simulate(*on.resolver, *bisect, seating, {1, 0, 20, false}, 1);
  }));
  const std::shared_ptr<const Resolver> sprayed =
      make_sprayed_resolver(on.paper.fabric, on.places(), next_hops(on.paper.fabric, on.places()));
  REQUIRE(sprayed->ways()->part_lists() != nullptr);  // Made once, before the loops.
  loops.push_back(loop("sprayed round", 2 * 16 + 2, [=, all = all()] {
    return simulate(*sprayed, *all, seating, {1, 0, 1, false}, 1);
  }));
  const std::shared_ptr<const Resolver> around =
      make_valiant_resolver(on.paper.fabric, on.places(), {});
  loops.push_back(loop("round by any switch", 16 + 2 * 4, [=, all = all()] {
    return simulate(*around, *all, seating, {1, 0, 1, false}, 1);
  }));
  const std::vector<double> ones(on.resolver->switch_channels(), 1);
  const std::shared_ptr<const Resolver> by_load =
      make_ugal_resolver(on.paper.fabric, on.places(), {}, ones);
  loops.push_back(loop("round by load", 16 + 1 + 4 * 4, [=, all = all()] {
    return simulate(*by_load, *all, seating, {1, 0, 1, false}, 1);
  }));
  // Even splits do not do where cables differ.
  std::vector<double> rate(on.resolver->switch_channels() + 2 * on.hosts.size(), 1.0);
  for (std::size_t channel = 0; channel < on.resolver->switch_channels(); channel += 3) {
    rate[channel] = 0.25;
  }
  const std::shared_ptr<const Resolver> ideal =
      make_ideal_resolver(on.paper.fabric, on.places(), next_hops(on.paper.fabric, on.places()));
  loops.push_back(loop("ideal round", 16 + 100, [=, bisect = bisect()] {
    return simulate(*ideal, *bisect, seating, {1, 0, 20, false}, 1, rate);
  }));
  loops.push_back(loop("users", 16, [&, seating, channels, all = all()] {
    return channel_users(*on.resolver, *all, seating, {1, 0, 1, false}, channels, {}, 1);
  }));
  loops.push_back(loop(
      "messages", 1, [&] { return message_congestion(*on.resolver, on.hosts, on.target, {}, 0); }));
  loops.push_back(
      loop("fair share", 2, [&] { return fair_share(*on.resolver, on.hosts, on.target); }));
  loops.push_back(
      loop("fluid", 16, [&] { return fluid_times(*on.resolver, on.hosts, on.target, on.bytes); }));
  loops.push_back(loop("reach", 16 + 4, [&] { return channel_reach(*on.resolver, on.leaf); }));
  loops.push_back(loop("pairs", 4, [&] { return pairs_across(*on.resolver, on.leaf, 0); }));
  loops.push_back(loop("seats' figures", 2, [&] {
    return judge_seats(*on.resolver, on.traffic(), on.seconds, on.hosts);
  }));
  loops.push_back(loop("seats", 100, [&] {
    return seat_ranks(*on.resolver, on.traffic(), {on.seconds, on.ones, 1, 100'000}, {on.hosts});
  }));
  const auto judge = [&, bisect = bisect()] {
    return FailureJudge(on.paper.fabric, on.targets, on.tables, *bisect, on.hosts,
                        {1, 0, 10, false});
  };
  loops.push_back(loop("messages that failures meet", 16 + 10 + 10, judge));
  const auto whole = std::make_shared<FailureJudge>(judge());
  loops.push_back(loop("a failure", 10, [whole] { return whole->judge({{4}, {}}); }));
}

void add_schedules(const Figure& on, std::vector<Loop>& loops) {
  const auto ring = std::make_shared<contend::test::Ring>(4);
  contend::test::Written written;
  written.strand(0);
  for (int n = 0; n < 300; ++n) written.compute(1);
  loops.push_back(loop("a schedule", 2, [ring, written] { return ring->run(written); }));
  loops.push_back(loop("calls over streams", 3, [ring, written] {
    const std::vector<double> rate(ring->channels + 8, 1e6);
    const std::vector<double> starts(3 * 4, 0);
    const std::vector<std::uint32_t> places = contend::test::in_order(4);
    StreamedCalls calls;
    calls.place_of_rank = places;
    calls.rate = rate;
    calls.starts = starts;
    return carry_streams(written.schedule(), *ring->resolver, calls);
  }));
  loops.push_back(loop("routes of hosts", 16, [&] { return host_routes(*on.resolver); }));
  loops.push_back(loop("phases", 16 + 2, [&] { return phases_by_routes(*on.resolver, on.hosts); }));
}

}  // namespace

TEST_CASE("every long loop asks whether it goes on, and ends when it shall") {
  // The thread that asks is the only one.
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Figure on;
  std::vector<Loop> loops;
  add_routes(on, loops);
  add_congestion(on, loops);
  add_schedules(on, loops);
  constexpr std::chrono::nanoseconds kAlways{0};
  for (const Loop& each : loops) {
    CAPTURE(each.name);
    asks = 0;
    {
      const Interruption counting(count_asks, kAlways);
      each.run();
    }
    CHECK(asks >= each.pieces);
    // Wherever it is told to end, it ends, and nothing is lost or done twice.
    for (int end : {0, asks / 2, asks - 1}) {
      asks_left = end;
      const Interruption ending(end_when_asked_enough, kAlways);
      CHECK_THROWS_AS(each.run(), Ended);
      CHECK(asks_left == -1);
    }
  }
  omp_set_num_threads(threads);
}
