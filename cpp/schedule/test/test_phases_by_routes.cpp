#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/schedule/phases_by_routes.hpp"

using namespace contend;

namespace {

using Hosts = std::vector<std::uint32_t>;
using Route = std::vector<std::uint32_t>;

/// Routes by a rule: the channels from one host to another.
HostRoutes routes_of(std::uint32_t hosts, std::uint32_t channels,
                     const std::function<Route(std::uint32_t, std::uint32_t)>& rule) {
  HostRoutes routes{hosts, channels, {0}, {}};
  for (std::uint32_t from = 0; from < hosts; ++from) {
    for (std::uint32_t to = 0; to < hosts; ++to) {
      if (from != to) {
        const Route route = rule(from, to);
        routes.channel.insert(routes.channel.end(), route.begin(), route.end());
      }
      routes.begin.push_back(routes.channel.size());
    }
  }
  return routes;
}

HostRoutes crossbar(std::uint32_t hosts) {
  return routes_of(hosts, 0, [](std::uint32_t, std::uint32_t) { return Route{}; });
}

Hosts one_each(std::uint32_t hosts) { return contend::test::in_order(hosts); }

/// What a message occupies: channels, and the ports of its hosts, behind the channels.
Route occupied(const HostRoutes& routes, std::uint32_t from, std::uint32_t to) {
  if (from == to) return {};
  const std::size_t pair = std::size_t{from} * routes.hosts + to;
  Route all(routes.channel.begin() + static_cast<std::ptrdiff_t>(routes.begin[pair]),
            routes.channel.begin() + static_cast<std::ptrdiff_t>(routes.begin[pair + 1]));
  all.push_back(routes.channels + from);
  all.push_back(routes.channels + routes.hosts + to);
  return all;
}

/// Why phases are no all-to-all of that kind; "" if they are. Looks at every promise by itself.
std::string fault(const HostRoutes& routes, const Hosts& host_of_rank, const Phases& phases) {
  const std::size_t ranks = host_of_rank.size();
  if (phases.ranks != ranks) return "ranks";
  if (phases.to.size() != ranks * phases.count || phases.from.size() != phases.to.size()) {
    return "numbers of a rank";
  }
  std::vector<int> met(ranks * ranks);
  for (std::size_t phase = 0; phase < phases.count; ++phase) {
    std::vector<int> busy(routes.channels + 2 * routes.hosts);
    std::size_t sent = 0, received = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      received += phases.from[rank * phases.count + phase] >= 0 ? 1U : 0U;
      const std::int32_t target = phases.to[rank * phases.count + phase];
      if (target < 0) continue;
      ++sent;
      const auto to = static_cast<std::size_t>(target);
      if (to >= ranks || to == rank) return "no rank";
      if (phases.from[to * phases.count + phase] != static_cast<std::int32_t>(rank)) {
        return "a message that nobody expects";
      }
      if (phases.to[to * phases.count + phase] == static_cast<std::int32_t>(rank)) {
        return "both ways";
      }
      ++met[rank * ranks + to];
      for (const std::uint32_t one : occupied(routes, host_of_rank[rank], host_of_rank[to])) {
        if (++busy[one] > 1) return "a shared channel";
      }
    }
    if (sent != received) return "somebody waits for nothing";
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t other = 0; other < ranks; ++other) {
      if (met[rank * ranks + other] != (rank == other ? 0 : 1)) return "not each pair once";
    }
  }
  return "";
}

/// Phases that keep every promise.
Phases right_phases(const HostRoutes& routes, const Hosts& host_of_rank) {
  const Phases phases = phases_by_routes(routes, host_of_rank);
  CHECK(fault(routes, host_of_rank, phases) == "");
  CHECK(phases.count >= phases.bound);
  return phases;
}

}  // namespace

TEST_CASE("nothing is needed for one rank, and two take turns") {
  CHECK(right_phases(crossbar(1), {}).count == 0);
  CHECK(right_phases(crossbar(1), {0}).count == 0);
  CHECK(right_phases(crossbar(2), {0, 1}).count == 2);
}

TEST_CASE("on a crossbar p ranks need p - 1 phases, four one more") {
  for (std::uint32_t ranks = 2; ranks <= 40; ++ranks) {
    CAPTURE(ranks);
    const Phases phases = right_phases(crossbar(ranks), one_each(ranks));
    CHECK(phases.bound == (ranks == 2 || ranks == 4 ? ranks : ranks - 1));
    CHECK(phases.count <= phases.bound + 1);
  }
}

TEST_CASE("no three derangements of four without swaps make up an all-to-all: the bound of four") {
  // All permutations of four that leave nobody in place and swap no two are circles of all four.
  std::vector<std::vector<std::size_t>> circles;
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    bool fits = true;
    for (std::size_t at = 0; at < 4; ++at) {
      fits = fits && order[at] != at && order[order[at]] != at;
    }
    if (fits) circles.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(circles.size() == 6);
  const auto apart = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), std::not_equal_to<>());
  };
  for (const auto& a : circles) {
    for (const auto& b : circles) {
      for (const auto& c : circles) CHECK(!(apart(a, b) && apart(b, c) && apart(a, c)));
    }
  }
}

TEST_CASE("k ranks of a host send k (p - k) messages through its port") {
  for (const std::uint32_t each : {2U, 3U, 5U}) {
    for (const std::uint32_t hosts : {2U, 3U, 6U}) {
      Hosts host_of_rank;
      for (std::uint32_t rank = 0; rank < each * hosts; ++rank)
        host_of_rank.push_back(rank % hosts);
      const Phases phases = right_phases(crossbar(hosts), host_of_rank);
      CHECK(phases.bound == std::max(each * hosts - 1, each * (each * hosts - each)));
      CHECK(phases.count <= phases.bound + 1 + phases.bound / 20);
    }
  }
}

TEST_CASE("ranks of one host meet without channels") {
  const Phases phases = right_phases(crossbar(1), Hosts(9, 0));
  CHECK(phases.bound == 8);
}

TEST_CASE("one channel between two leaves carries one message at a time") {
  // Hosts 0 .. 4 and 5 .. 9: 25 messages each way, over channel 0 and channel 1.
  const HostRoutes routes = routes_of(10, 2, [](std::uint32_t from, std::uint32_t to) {
    return from / 5 == to / 5 ? Route{} : Route{from / 5};
  });
  CHECK(right_phases(routes, one_each(10)).count == 25);
}

TEST_CASE("what the messages of a channel have in common keeps them apart: it needs no look") {
  // A channel for each target; all of them together change nothing.
  const HostRoutes routes =
      routes_of(12, 12, [](std::uint32_t, std::uint32_t to) { return Route{to}; });
  CHECK(right_phases(routes, one_each(12)).to == right_phases(crossbar(12), one_each(12)).to);
}

TEST_CASE("any routes, any ranks on any hosts: every promise is kept") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
  };
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint32_t hosts = 1 + below(9), channels = 1 + below(20), ranks = below(17);
    const HostRoutes routes = routes_of(hosts, channels, [&](std::uint32_t, std::uint32_t) {
      Route all(channels);
      std::iota(all.begin(), all.end(), 0U);
      std::shuffle(all.begin(), all.end(), random);
      all.resize(below(std::min(channels, 5U) + 1));
      return all;
    });
    Hosts host_of_rank(ranks);
    for (std::uint32_t& host : host_of_rank) host = below(hosts);
    CAPTURE(trial);
    static_cast<void>(right_phases(routes, host_of_rank));
  }
}

TEST_CASE("input that makes no sense is refused in a line") {
  const auto refused = [](const HostRoutes& routes, const Hosts& host_of_rank) {
    try {
      static_cast<void>(phases_by_routes(routes, host_of_rank));
    } catch (const Error& reason) {
      return std::string(reason.what());
    }
    return std::string();
  };
  CHECK(refused(crossbar(2), {0, 2}) == "phases by routes: expected hosts below 2, got 2");
  HostRoutes short_of_one = crossbar(2);
  short_of_one.begin.pop_back();
  CHECK(refused(short_of_one, {0, 1}) ==
        "phases by routes: expected beginnings of routes: 5, got 4");
  HostRoutes other_channel = crossbar(2);
  other_channel.begin = {0, 0, 1, 1, 1};
  CHECK(refused(other_channel, {0, 1}) == "phases by routes: expected routes that end at 0, got 1");
  other_channel.channel = {0};
  CHECK(refused(other_channel, {0, 1}) == "phases by routes: expected channels below 0, got 0");
  other_channel.begin = {0, 1, 0, 1, 1};
  CHECK(refused(other_channel, {0, 1}) ==
        "phases by routes: expected a route that ends at or after 1, got 0");
  CHECK(refused(crossbar(1), Hosts(65536, 0)) ==
        "phases by routes: expected ranks up to 65535, got 65536");
}

TEST_CASE("routes are those of the forwarding tables") {
  const test::ClockwiseRing ring(5);
  const Hosts hosts{0, 2, 3};
  const auto resolver = ring.tabled({hosts, false});
  const HostRoutes routes = host_routes(*resolver);
  CHECK(routes.hosts == 3);
  for (std::uint32_t from = 0; from < 3; ++from) {
    for (std::uint32_t to = 0; to < 3; ++to) {
      const std::size_t pair = from * 3 + to;
      // Clockwise: as many channels as switches on the way.
      const std::uint32_t hops = (hosts[to] + 5 - hosts[from]) % 5;
      CHECK(routes.begin[pair + 1] - routes.begin[pair] == hops);
    }
  }
  const Hosts ranks{0, 1, 2};
  CHECK(fault(routes, ranks, phases_by_routes(*resolver, ranks)) == "");
  CHECK_THROWS_AS(static_cast<void>(phases_by_routes(*resolver, Hosts{0, 3})), Error);
}
