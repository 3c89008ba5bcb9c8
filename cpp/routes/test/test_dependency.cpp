#include <doctest/doctest.h>

#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/checks/pair_lanes.hpp"
#include "small_ring.hpp"

using namespace contend;
using contend::test::ClockwiseRing;

TEST_CASE("clockwise around four switches, every channel waits for the next") {
  const ClockwiseRing ring(4);
  const auto found = channel_dependencies(ring.fabric, ring.tables(), ring.addresses(), false);
  CHECK(found.count() == 4);
  CHECK(found.cycle() == std::vector<ChannelId>{0, 2, 4, 6});
}

TEST_CASE("around three, two channels at most follow each other, and still they close a circle") {
  const ClockwiseRing ring(3);
  const auto found = channel_dependencies(ring.fabric, ring.tables(), ring.addresses(), false);
  CHECK(found.cycle() == std::vector<ChannelId>{0, 2, 4});
}

TEST_CASE("turned back before the last switch, the circle is open") {
  ClockwiseRing ring(4);
  // Nothing may pass from switch 3 to switch 0: those routes go the other way round.
  for (SwitchId s = 1; s < 4; ++s) {
    for (SwitchId to = 0; to < s; ++to) ring.port(s, to + 1) = 3;
  }
  const auto found = channel_dependencies(ring.fabric, ring.tables(), ring.addresses(), false);
  CHECK(found.count() == 4);
  CHECK(found.cycle().empty());
}

TEST_CASE("of two circles through a channel the shorter is named") {
  // Channels 0 -> 2 -> 4 -> 6 -> 0 around, and 0 -> 2 -> 0 would need a switch to turn back.
  const ClockwiseRing ring(4);
  ChannelDependencies found(ring.fabric);
  for (ChannelId channel = 0; channel < 8; channel += 2) found.add(channel, 2);
  found.add(0, 3);  // Channel 0 ends at switch 1, whose port 3 leads back: channel 1.
  found.add(1, 2);  // Channel 1 ends at switch 0, whose port 2 is channel 0.
  CHECK(found.cycle() == std::vector<ChannelId>{0, 1});
}

TEST_CASE("a dependency is noted once") {
  const ClockwiseRing ring(3);
  ChannelDependencies found(ring.fabric);
  CHECK_FALSE(found.has(0, 2));
  found.add(0, 2);
  found.add(0, 2);
  CHECK(found.has(0, 2));
  CHECK(found.count() == 1);
  CHECK(found.cycle().empty());
}

TEST_CASE("every route is on the lowest lane on which it closes no circle") {
  const contend::test::ClockwiseRing ring(8);
  const Places places{contend::test::in_order(8), false};
  const auto resolver = ring.tabled(places);
  const PairLanes found = pair_lanes(ring.fabric, *resolver, places, 4);
  // On each lane nothing passes one of the switches. A route all the way round ends beside where it
  // begins and passes all others, so that of two neighbours one must be such a switch: half of
  // them.
  CHECK(found.lanes == 4);
  for (std::uint8_t lane = 0; lane < 4; ++lane) {
    ChannelDependencies waits(ring.fabric);
    for (Place from = 0; from < 8; ++from) {
      for (Place to = 0; to < 8; ++to) {
        if (from == to || found.lane[found.row_of[from] * 8 + to] != lane) continue;
        for (Place at = from; at + 1 < from + (to + 8 - from) % 8; ++at) {
          waits.add(2 * (at % 8), 2);
        }
      }
    }
    CHECK(waits.count() > 0);
    CHECK(waits.cycle().empty());
  }
  CHECK_THROWS_WITH(pair_lanes(ring.fabric, *resolver, places, 1),
                    "as many virtual lanes as routes need, got 1");
}
