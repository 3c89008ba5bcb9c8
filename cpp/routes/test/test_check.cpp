#include <doctest/doctest.h>
#include <omp.h>

#include <numeric>
#include <random>

#include "contend/base/error.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/ways/in_tree.hpp"
#include "random_fabric.hpp"
#include "small_ring.hpp"

using namespace contend;
using contend::test::ClockwiseRing;

namespace {

std::size_t index(TraceEnd end) { return static_cast<std::size_t>(end); }

}  // namespace

TEST_CASE("clockwise around n switches: n (n - 1) routes, n of each length 1 .. n - 1") {
  const ClockwiseRing ring(5);
  const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
  CHECK(seen.routes == std::array<std::uint64_t, kTraceEnds>{20, 0, 0, 0, 0});
  CHECK(seen.hops == std::vector<std::uint64_t>{0, 5, 5, 5, 5});
  CHECK(seen.examples.empty());
  for (ChannelId channel = 0; channel < ring.fabric.switch_channels(); channel += 2) {
    // A channel is passed by 4 sources for the next host, 3 for the one after: 4 + 3 + 2 + 1.
    CHECK(seen.load[channel] == 10);
    CHECK(seen.addresses[channel] == 4);
    CHECK(seen.load[channel + 1] == 0);
  }
}

TEST_CASE("each kind of fault is found where it is") {
  ClockwiseRing ring(4);
  SUBCASE("no entry") {
    ring.port(1, 4) = kNoPort;
    const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
    REQUIRE(seen.examples.size() == 1);
    const RouteFault& fault = seen.examples[0];
    CHECK(fault.end == TraceEnd::no_entry);
    CHECK(fault.at == 1);
    CHECK(fault.from == 0);
    CHECK(fault.to == 3);
    CHECK(fault.address == 4);
  }
  SUBCASE("dead end: the switch itself") {
    ring.port(1, 4) = 0;
    const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
    CHECK(seen.faults[index(TraceEnd::dead_end)] == 1);
    CHECK(seen.routes[index(TraceEnd::dead_end)] == 2);
  }
  SUBCASE("wrong host") {
    ring.port(1, 4) = 1;
    const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
    CHECK(seen.faults[index(TraceEnd::wrong_host)] == 1);
  }
  SUBCASE("a loop is one fault, named by its lowest switch") {
    ring.port(2, 4) = 3;
    const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
    CHECK(seen.faults[index(TraceEnd::loop)] == 1);
    CHECK(seen.routes[index(TraceEnd::loop)] == 3);
    REQUIRE(seen.examples.size() == 1);
    CHECK(seen.examples[0].at == 1);
  }
}

TEST_CASE("in bulk and one by one routes end alike and load the same, whatever the tables say") {
  std::array<std::size_t, kTraceEnds> seen{};
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    auto made = test::make_random_fabric(seed, 9, 14, 10, 1);
    std::mt19937 engine(seed);
    // One entry in eight is anything, those of the hosts' own switches among them.
    for (PortNumber& port : made.ports) {
      if (engine() % 8 == 0) port = static_cast<PortNumber>(engine() % 12);
      if (engine() % 64 == 0) port = kNoPort;
    }
    std::vector<SwitchId> all(made.fabric.switches());
    std::iota(all.begin(), all.end(), SwitchId{0});
    const std::vector<Destination> to = destinations(made.fabric, made.addresses());
    std::vector<ChannelId> route;
    for_each_in_tree(made.fabric, made.tables(), to, all, 1,
                     [&](std::size_t, const Destination& host, const InTree& tree, auto) {
                       for (const SwitchId s : all) {
                         const Trace one =
                             trace(made.fabric, made.tables(), s, host.host, host.address, route);
                         CHECK(tree.end(s) == one.end);
                         ++seen[index(one.end)];
                         if (one.end == TraceEnd::delivered) CHECK(tree.hops(s) == route.size());
                         if (one.end == TraceEnd::loop) {
                           CHECK(tree.last(one.last) == tree.last(s));
                         } else if (one.end != TraceEnd::delivered) {
                           CHECK(tree.last(s) == one.last);
                         }
                       }
                     });
    const RouteCheck counted = check_routes(made.fabric, made.tables(), made.addresses(), 3);
    std::array<std::uint64_t, kTraceEnds> ends{};
    std::vector<std::uint64_t> hops(made.fabric.switches()), load(made.fabric.switch_channels());
    for (const Destination& host : to) {
      for (HostId source = 0; source < made.fabric.hosts(); ++source) {
        if (source == host.host) continue;
        const Trace one = trace(made.fabric, made.tables(), made.fabric.host_switch(source),
                                host.host, host.address, route);
        ++ends[index(one.end)];
        if (one.end != TraceEnd::delivered) continue;
        ++hops[route.size()];
        for (const ChannelId channel : route) ++load[channel];
      }
    }
    CHECK(counted.routes == ends);
    CHECK(counted.load == load);
    hops.resize(counted.hops.size());
    CHECK(counted.hops == hops);
  }
  for (const std::size_t count : seen) CHECK(count > 100);
}

TEST_CASE("a host's own switch that sends its address away is a fault of check and of trace") {
  ClockwiseRing ring(4);
  ring.port(3, 4) = 3;  // back to switch 2, which sends it here again
  const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
  CHECK(seen.routes[index(TraceEnd::loop)] == 3);
  REQUIRE(seen.examples.size() == 1);
  CHECK(seen.examples[0].at == 2);
  std::vector<ChannelId> route;
  for (SwitchId s = 0; s < 4; ++s) {
    CHECK(trace(ring.fabric, ring.tables(), s, 3, 4, route).end == TraceEnd::loop);
  }
}

TEST_CASE("every address of an LMC range is a route of its own") {
  ClockwiseRing ring(3);
  ring.lmc[2] = 1;  // Addresses 3 and 4; the tables end before 4.
  const RouteCheck seen = check_routes(ring.fabric, ring.tables(), ring.addresses(), 3);
  CHECK(seen.routes == std::array<std::uint64_t, kTraceEnds>{6, 2, 0, 0, 0});
}

TEST_CASE("the result does not depend on the number of threads") {
  ClockwiseRing ring(70);
  for (Address address = 5; address < 60; ++address) ring.port(address % 7, address) = kNoPort;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const RouteCheck one = check_routes(ring.fabric, ring.tables(), ring.addresses(), 4);
  omp_set_num_threads(3);
  const RouteCheck three = check_routes(ring.fabric, ring.tables(), ring.addresses(), 4);
  omp_set_num_threads(threads);
  CHECK(one.routes == three.routes);
  CHECK(one.load == three.load);
  CHECK(one.hops == three.hops);
  REQUIRE(one.examples.size() == 4);
  REQUIRE(three.examples.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(one.examples[i].address == three.examples[i].address);
}

TEST_CASE("columns that do not fit the fabric are refused") {
  ClockwiseRing ring(3);
  const TableView two{ring.ports.data(), 2, 4};
  CHECK_THROWS_AS(check_routes(ring.fabric, two, ring.addresses(), 3), Error);
  ring.lmc[0] = 8;
  CHECK_THROWS_AS(check_routes(ring.fabric, ring.tables(), ring.addresses(), 3), Error);
  ring.lmc.pop_back();
  CHECK_THROWS_AS(destinations(ring.fabric, ring.addresses()), Error);
}
