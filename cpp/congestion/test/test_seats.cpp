#include "contend/congestion/seats.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "../src/seats/phase_loads.hpp"
#include "contend/base/error.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Hosts on a ring that is walked clockwise only: channel 2 h leads from switch h to h + 1.
struct SeatRing {
  explicit SeatRing(std::uint32_t hosts) : ring(hosts), seconds(4 * hosts, 1.0), seats(hosts, 1) {
    std::vector<HostId> every(hosts);
    for (std::uint32_t h = 0; h < hosts; ++h) every[h] = h;
    resolver = ring.tabled({every, false});
  }

  SeatFigures judge(const PhasedTraffic& traffic, const std::vector<Place>& places) const {
    return judge_seats(*resolver, traffic, seconds, places);
  }

  std::vector<Place> seat(const PhasedTraffic& traffic,
                          const std::vector<std::vector<Place>>& starts) const {
    return seat_ranks(*resolver, traffic, {seconds, seats, 1, 200'000}, starts);
  }

  ClockwiseRing ring;
  std::vector<double> seconds;
  std::vector<std::uint32_t> seats;
  std::unique_ptr<Resolver> resolver;
};

struct Columns {
  std::vector<std::uint32_t> phase, source, target;
  std::vector<double> bytes;

  PhasedTraffic of(std::size_t ranks, std::size_t phases) const {
    return {ranks, phases, phase, source, target, bytes};
  }
};

/// Every rank sends 10 bytes to the next one.
Columns ring_of(std::uint32_t ranks) {
  Columns columns;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    columns.phase.push_back(0);
    columns.source.push_back(r);
    columns.target.push_back((r + 1) % ranks);
    columns.bytes.push_back(10);
  }
  return columns;
}

}  // namespace

TEST_CASE("figures are those of the equations") {
  const SeatRing ring(4);
  // 0 -> 2 by channels 0 and 2 and 1 -> 2 by 2 in one phase, 3 -> 0 by 6 in the next.
  const Columns columns{{0, 0, 1}, {0, 1, 3}, {2, 2, 0}, {10, 5, 8}};
  const SeatFigures figures = ring.judge(columns.of(4, 2), {0, 1, 2, 3});
  // Channel 2 and the ejection of 2 carry 15 bytes, then channel 6 carries 8.
  CHECK(figures.seconds == 23);
  // Two messages on channel 2, then one alone: (10 x 2 + 5 x 2 + 8 x 1) / 23.
  CHECK(figures.mean_congestion == doctest::Approx(38.0 / 23));
  // Hosts' channels count: 10 x 4 + 5 x 3 + 8 x 3.
  CHECK(figures.hop_bytes == 79);
}

TEST_CASE("slower channels take longer, and what stays on its place takes nothing") {
  SeatRing ring(4);
  ring.seconds[0] = 3;
  const Columns columns{{0, 0}, {0, 2}, {1, 3}, {10, 20}};
  CHECK(ring.judge(columns.of(4, 1), {0, 1, 2, 3}).seconds == 30);
  CHECK(ring.judge(columns.of(4, 1), {0, 0, 2, 2}).seconds == 0);
  CHECK(ring.judge(columns.of(4, 1), {0, 0, 2, 2}).mean_congestion == 1);
}

TEST_CASE("loads that follow moves are those of a new count, and undoing them is exact") {
  const SeatRing ring(6);
  const Columns columns = ring_of(6);
  const PhasedTraffic traffic = columns.of(6, 1);
  const RankMessages messages(traffic);
  const std::vector<Place> begun{0, 1, 2, 3, 4, 5};
  PhaseLoads loads(*ring.resolver, messages, ring.seconds, begun);
  const double before = loads.norm();
  const std::vector<RankMove> exchange{{1, 4}, {4, 1}};
  const double growth = loads.move(exchange);
  CHECK(growth > 0);
  CHECK(std::ranges::equal(loads.places(), std::vector<Place>{0, 4, 2, 3, 1, 5}));
  // The longest time was 10 at first, which is the unit; it is that of a new count by p = 8.
  const double moved = loads.norm();
  loads.set_power(3);
  CHECK(loads.norm() == doctest::Approx(moved).epsilon(1e-12));
  loads.move(std::vector<RankMove>{{0, 5}, {5, 0}});
  loads.undo();
  CHECK(loads.norm() == moved);
  loads.move(std::vector<RankMove>{{1, 1}, {4, 4}});
  CHECK(loads.norm() == doctest::Approx(before).epsilon(1e-12));
}

TEST_CASE("a ring of ranks comes to sit on the ring as it is") {
  const SeatRing ring(8);
  const Columns columns = ring_of(8);
  const PhasedTraffic traffic = columns.of(8, 1);
  const std::vector<Place> scattered{3, 0, 6, 1, 5, 2, 7, 4};
  const std::vector<Place> found = ring.seat(traffic, {scattered});
  // Every channel clockwise carries one message of 10 bytes.
  CHECK(ring.judge(traffic, found).seconds == 10);
  CHECK(ring.judge(traffic, scattered).seconds > 10);
  CHECK(std::ranges::is_permutation(found, scattered));
  CHECK(ring.seat(traffic, {scattered}) == found);
}

TEST_CASE("free places are taken where they are better, but no more of them") {
  const SeatRing ring(8);
  // Two pairs that talk; given far from each other, with six free places.
  const Columns columns{{0, 0}, {0, 2}, {1, 3}, {10, 10}};
  const PhasedTraffic traffic = columns.of(4, 1);
  const std::vector<Place> given{0, 4, 2, 6};
  const std::vector<Place> found = ring.seat(traffic, {given});
  CHECK(ring.judge(traffic, given).seconds == 20);
  CHECK(ring.judge(traffic, found).seconds == 10);
  CHECK(ring.judge(traffic, found).hop_bytes == 60);
}

TEST_CASE("ranks that talk share a place that has seats for them") {
  SeatRing ring(4);
  std::ranges::fill(ring.seats, 2U);
  const Columns columns{{0, 0}, {0, 1}, {2, 3}, {10, 10}};
  const PhasedTraffic traffic = columns.of(4, 1);
  const std::vector<Place> found = ring.seat(traffic, {{0, 0, 1, 1}});
  CHECK(found[0] == found[2]);
  CHECK(found[1] == found[3]);
  CHECK(found[0] != found[1]);
}

TEST_CASE("servers move whole, and their ranks keep their places within them") {
  // Four servers of two ranks; every rank sends to the one of its number on the next server. In the
  // order 0, 2, 1, 3 messages go 2, 3, 2 and 1 servers on, so a channel carries four; in that of
  // the ring two.
  const SeatRing ring(8);
  Columns columns;
  for (std::uint32_t r = 0; r < 8; ++r) {
    columns.phase.push_back(0);
    columns.source.push_back(r);
    columns.target.push_back((r + 2) % 8);
    columns.bytes.push_back(10);
  }
  const std::vector<Place> start{0, 1, 4, 5, 2, 3, 6, 7};
  CHECK(ring.judge(columns.of(8, 1), start).seconds == 40);
  const std::vector<Place> found = seat_ranks(*ring.resolver, columns.of(8, 1),
                                              {ring.seconds, ring.seats, 1, 200'000, 2}, {start});
  CHECK(ring.judge(columns.of(8, 1), found).seconds == 20);
  for (std::uint32_t r = 0; r < 8; r += 2) {
    CHECK(found[r] % 2 == 0);
    CHECK(found[r + 1] == found[r] + 1);
  }
  // Ranks of a server on two, and in another order.
  CHECK_THROWS_AS(seat_ranks(*ring.resolver, columns.of(8, 1),
                             {ring.seconds, ring.seats, 1, 200'000, 2}, {{0, 2, 1, 3, 4, 5, 6, 7}}),
                  Error);
  CHECK_THROWS_AS(seat_ranks(*ring.resolver, columns.of(8, 1),
                             {ring.seconds, ring.seats, 1, 200'000, 3}, {start}),
                  Error);
}

TEST_CASE("what does not fit is refused") {
  const SeatRing ring(4);
  const Columns columns = ring_of(4);
  const PhasedTraffic traffic = columns.of(4, 1);
  CHECK_THROWS_AS(ring.judge(traffic, {0, 1, 2}), Error);
  CHECK_THROWS_AS(ring.judge(traffic, {0, 1, 2, 4}), Error);
  CHECK_THROWS_AS(ring.seat(traffic, {}), Error);
  CHECK_THROWS_AS(ring.seat(traffic, {{0, 0, 1, 2}}), Error);
  CHECK_THROWS_AS(ring.judge(columns.of(3, 1), {0, 1, 2}), Error);
  CHECK_THROWS_AS(ring.judge(columns.of(4, 0), {0, 1, 2, 3}), Error);
}
