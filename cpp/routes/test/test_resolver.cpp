#include "contend/routes/resolver.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "contend/routes/checks/trace.hpp"
#include "contend/routes/checks/unreachable.hpp"
#include "random_fabric.hpp"
#include "small_ring.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Routes of the messages without their padding.
template <class Id>
std::vector<std::vector<ChannelId>> routes_of(const Resolver& resolver,
                                              const std::vector<Place>& source,
                                              const std::vector<Place>& target) {
  std::vector<Id> channels(source.size() * resolver.stride());
  resolver.resolve(source, target, channels.data());
  std::vector<std::vector<ChannelId>> routes(source.size());
  for (std::size_t m = 0; m < source.size(); ++m) {
    bool ended = false;
    for (std::size_t k = 0; k < resolver.stride(); ++k) {
      const ChannelId channel = channels[m * resolver.stride() + k];
      REQUIRE(channel < resolver.switch_channels() + kPads);
      ended = ended || channel >= resolver.switch_channels();
      // Padding comes last.
      REQUIRE(ended == (channel >= resolver.switch_channels()));
      if (!ended) routes[m].push_back(channel);
    }
  }
  return routes;
}

/// All messages between different places.
struct AllPairs {
  std::vector<Place> source;
  std::vector<Place> target;
  explicit AllPairs(std::size_t places) {
    for (Place from = 0; from < places; ++from) {
      for (Place to = 0; to < places; ++to) {
        if (from == to) continue;
        source.push_back(from);
        target.push_back(to);
      }
    }
  }
};

std::vector<std::vector<ChannelId>> traced(const RandomFabric& on, const Places& places,
                                           const AllPairs& pairs) {
  std::vector<std::vector<ChannelId>> routes;
  for (std::size_t m = 0; m < pairs.source.size(); ++m) {
    const HostId to = places.hosts[pairs.target[m]];
    // Address number (source + target) mod 2^lmc when spread.
    const Address turn =
        places.spread ? (pairs.source[m] + pairs.target[m]) % (1U << on.lmc[to]) : 0;
    std::vector<ChannelId> route;
    const Trace end =
        trace(on.fabric, on.tables(), on.fabric.host_switch(places.hosts[pairs.source[m]]), to,
              on.first[to] + turn, route);
    REQUIRE(end.end == TraceEnd::delivered);
    routes.push_back(route);
  }
  return routes;
}

}  // namespace

TEST_CASE("route table and table walks find the routes that tracing finds") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const SwitchId switches = 1 + seed % 12;
    const HostId hosts = 2 + seed % 15;
    const RandomFabric on = make_random_fabric(seed, switches, hosts, seed % 7, seed % 3);
    const std::size_t taking_part = seed % 2 == 0 ? hosts : 1 + hosts / 2;
    const Places places{some_hosts(seed, on.fabric, taking_part), seed % 4 < 2};
    const AllPairs pairs(taking_part);
    const auto expected = traced(on, places, pairs);
    const auto tabled = on.tabled(places);
    const auto walking = on.walking(places);
    const std::size_t found = longest_route(on.fabric, on.tables(), on.addresses(), places);
    const auto factored = make_factored_resolver(on.fabric, on.tables(), on.addresses(), places,
                                                 found, std::size_t{1} << 20);
    CHECK((factored == nullptr) == (found > 4));
    for (const Resolver* resolver : {tabled.get(), walking.get(), factored.get()}) {
      if (resolver == nullptr) continue;
      CHECK(resolver->places() == taking_part);
      CHECK(resolver->switch_channels() == on.fabric.switch_channels());
      REQUIRE(resolver->narrow());
      CHECK(routes_of<std::uint16_t>(*resolver, pairs.source, pairs.target) == expected);
      CHECK(routes_of<std::uint32_t>(*resolver, pairs.source, pairs.target) == expected);
    }
    std::size_t longest = 0;
    for (const auto& route : expected) longest = std::max(longest, route.size());
    // The longest of all pairs of leaf and address, which may be one that no message needs.
    CHECK(found >= longest);
    CHECK(found <= on.fabric.switches() - 1);
    CHECK(tabled->bytes() == tabled_bytes(on.fabric, on.addresses(), places, found));
  }
}

TEST_CASE("channel numbers beyond 16 bits") {
  // Two switches with 33,000 cables between them.
  const RandomFabric on = make_random_fabric(1, 2, 40, 32'999);
  const Places places{some_hosts(1, on.fabric, 40), false};
  const AllPairs pairs(40);
  const auto expected = traced(on, places, pairs);
  const auto tabled = on.tabled(places);
  const auto walking = on.walking(places);
  for (const Resolver* resolver : {tabled.get(), walking.get()}) {
    REQUIRE_FALSE(resolver->narrow());
    CHECK(routes_of<std::uint32_t>(*resolver, pairs.source, pairs.target) == expected);
  }
}

TEST_CASE("the longest route of a clockwise ring goes all round") {
  const ClockwiseRing ring(7);
  const Places all{{0, 1, 2, 3, 4, 5, 6}, false};
  CHECK(longest_route(ring.fabric, ring.tables(), ring.addresses(), all) == 6);
  // From 2 to 1 by way of 3, 4, 5, 6, 0.
  CHECK(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{1, 2}, false}) == 6);
  CHECK(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{4}, false}) == 0);
}

TEST_CASE("a host that cannot be reached is named with the switch where the walk ended") {
  const Places all{{0, 1, 2, 3, 4}, false};
  struct Case {
    SwitchId at;
    PortNumber port;
    SwitchId end;
    std::string why;
  };
  // To host 3 (address 4), whose switch is 3: switch 1 does something else.
  for (const Case& c :
       {Case{1, kNoPort, 1, "has no port for it"},
        Case{1, 0, 1, "sends it to a port with nothing plugged in"},
        Case{1, 9, 1, "sends it to a port with nothing plugged in"},
        Case{1, 1, 1, "delivers it to another host"}, Case{3, 2, 3, "lies on a loop"}}) {
    ClockwiseRing ring(5);
    ring.port(c.at, 4) = c.port;
    CAPTURE(c.why);
    for (const bool tabled : {true, false}) {
      try {
        if (tabled) {
          ring.tabled(all);
        } else {
          ring.walking(all);
        }
        FAIL("an unreachable host was accepted");
      } catch (const UnreachableError& error) {
        CHECK(error.to() == 3);
        CHECK(error.address() == 4);
        if (c.why != "lies on a loop") CHECK(error.at() == c.end);
        CHECK(error.why() == c.why);
        // The walk from the switch named really fails.
        std::vector<ChannelId> route;
        CHECK(trace(ring.fabric, ring.tables(), error.from(), 3, 4, route).end !=
              TraceEnd::delivered);
      }
    }
  }
}

TEST_CASE("the first place that cannot be reached is named, in the order of places") {
  ClockwiseRing ring(6);
  ring.port(0, 3) = kNoPort;
  ring.port(0, 5) = kNoPort;
  for (const auto& [hosts, expected] : std::vector<std::pair<std::vector<HostId>, HostId>>{
           {{0, 1, 2, 3, 4, 5}, 2}, {{5, 4, 3, 2, 1, 0}, 4}}) {
    try {
      longest_route(ring.fabric, ring.tables(), ring.addresses(), {hosts, false});
      FAIL("an unreachable host was accepted");
    } catch (const UnreachableError& error) {
      CHECK(error.to() == expected);
    }
  }
}

TEST_CASE("hosts that do not take part need no route") {
  ClockwiseRing ring(5);
  ring.port(0, 3) = kNoPort;
  const Places without{{0, 1, 3, 4}, false};
  CHECK_NOTHROW(ring.tabled(without));
  // Nor does a place that is alone on its switch need one to itself.
  ring.port(3, 4) = kNoPort;
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(), ring.addresses(), without),
                  UnreachableError);
}

TEST_CASE("a place that is alone on its switch needs no route to itself") {
  // Host 0 hangs on switch 0, which has lost its entry; nobody else is asked to reach it.
  ClockwiseRing ring(4);
  ring.port(0, 1) = kNoPort;
  CHECK(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{0}, false}) == 0);
}

TEST_CASE("without a spread only the first address needs a route") {
  RandomFabric on = make_random_fabric(3, 4, 6, 3, 2);
  const auto wide = std::find(on.lmc.begin(), on.lmc.end(), std::uint8_t{2});
  REQUIRE(wide != on.lmc.end());
  const Address last = on.first[static_cast<std::size_t>(wide - on.lmc.begin())] + 3;
  for (std::size_t s = 0; s < 4; ++s) on.ports[s * on.width + last] = kNoPort;
  Places places{some_hosts(1, on.fabric, 6), false};
  CHECK_NOTHROW(longest_route(on.fabric, on.tables(), on.addresses(), places));
  places.spread = true;
  CHECK_THROWS_AS(longest_route(on.fabric, on.tables(), on.addresses(), places), UnreachableError);
}

TEST_CASE("hosts and addresses that do not exist are refused") {
  ClockwiseRing ring(4);
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{4}, false}), Error);
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(),
                                {std::span(ring.first).first(3), ring.lmc}, {{0, 1}, false}),
                  Error);
  ring.lmc[1] = 8;
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{0, 1}, true}),
                  Error);
  ring.first[2] = 0;
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{0, 2}, false}),
                  Error);
  // An address beyond the tables.
  ring.first[3] = 70'000;
  CHECK_THROWS_AS(longest_route(ring.fabric, ring.tables(), ring.addresses(), {{0, 3}, false}),
                  UnreachableError);
}
