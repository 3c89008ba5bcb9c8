// Moves of ranks that leave routes what they were.

#include "../src/slowest/translation.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/pattern/fixed_patterns.hpp"

using namespace contend;
using contend::test::ClockwiseRing;

namespace {

constexpr std::uint64_t kAnyLooks = std::numeric_limits<std::uint32_t>::max();

/// On these hosts of a ring, each a rank.
struct OnRing {
  OnRing(const ClockwiseRing& ring, const std::vector<HostId>& hosts)
      : places(contend::test::in_order(hosts.size())), resolver(ring.tabled({hosts, false})) {}

  std::optional<Translation> find(std::span<const double> rate = {},
                                  std::uint64_t looks = kAnyLooks) const {
    if (rate.empty()) return find_translation(*resolver, places, nullptr, looks, 2);
    const ChannelRates rates(*resolver, rate);
    return find_translation(*resolver, places, &rates, looks, 2);
  }
  std::vector<double> ones() const {
    return std::vector<double>(resolver->switch_channels() + 2 * resolver->places(), 1.0);
  }

  std::vector<Place> places;
  std::unique_ptr<Resolver> resolver;
};

}  // namespace

TEST_CASE("a ring looks the same from every switch") {
  const ClockwiseRing ring(12);
  const OnRing all(ring, contend::test::in_order(12));
  const auto found = all.find();
  REQUIRE(found);
  CHECK(found->period == 1);
  // Channels lead on and back in turn, and none is used that leads back.
  REQUIRE(found->first.size() == 24);
  for (ChannelId c = 0; c < 24; ++c) CHECK(found->first[c] == (c % 2 == 0 ? 0 : c));
  CHECK_FALSE(all.find({}, 0));

  const auto third = OnRing(ring, {0, 3, 6, 9}).find();
  REQUIRE(third);
  CHECK(third->period == 1);
  CHECK(third->first[6] == 0);
  CHECK(third->first[8] == 2);
  CHECK_FALSE(OnRing(ring, {0, 3, 6, 8}).find());
  CHECK_FALSE(OnRing(ring, {0, 3, 9, 6}).find());
}

TEST_CASE("ranks that share a leaf move together") {
  const ClockwiseRing ring(6);
  const std::vector<SwitchId> at{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
  std::vector<Cable> cables;
  for (SwitchId s = 0; s < 6; ++s) cables.push_back({s, 3, (s + 1) % 6, 4});
  const Fabric fabric(at, std::vector<PortNumber>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
                      std::vector<PortNumber>(6, 4), cables);
  std::vector<PortNumber> ports(std::size_t{6} * 13, PortNumber{3});
  for (HostId h = 0; h < 12; ++h) ports[at[h] * 13 + h + 1] = static_cast<PortNumber>(1 + h % 2);
  const std::vector<Address> first = contend::test::in_order(12, 1);
  const std::vector<std::uint8_t> lmc(12, 0);
  const auto resolver = make_tabled_resolver(fabric, {ports.data(), 6, 13}, {first, lmc},
                                             {contend::test::in_order(12), false});
  const auto found =
      find_translation(*resolver, contend::test::in_order(12), nullptr, kAnyLooks, 2);
  REQUIRE(found);
  CHECK(found->period == 2);
}

TEST_CASE("what differs somewhere is no translation, or one of a longer period") {
  ClockwiseRing ring(12);
  OnRing all(ring, contend::test::in_order(12));
  std::vector<double> rate = all.ones();
  rate[8] = 0.5;
  CHECK_FALSE(all.find(rate));
  rate[8 + 12] = 0.5;
  REQUIRE(all.find(rate));
  CHECK(all.find(rate)->period == 6);
  rate = all.ones();
  rate[24 + 7] = 0.5;
  CHECK_FALSE(all.find(rate));
  rate = all.ones();
  for (std::size_t host = 0; host < 12; host += 3) rate[24 + 12 + host] = 0.5;
  REQUIRE(all.find(rate));
  CHECK(all.find(rate)->period == 3);

  // Whatever single pair goes the other way round.
  for (SwitchId from = 0; from < 12; ++from) {
    ClockwiseRing other(12);
    other.port((from + 1) % 12, from + 1) = 3;
    CHECK_FALSE(OnRing(other, contend::test::in_order(12)).find());
  }
}

TEST_CASE("rounds of shifts come to the same by translation") {
  const ClockwiseRing ring(64);
  for (const std::size_t hosts : {64U, 32U, 21U}) {
    std::vector<HostId> some(hosts);
    for (std::size_t k = 0; k < hosts; ++k) some[k] = static_cast<HostId>(k * (64 / hosts));
    const OnRing on(ring, some);
    std::vector<double> rate = on.ones();
    for (std::size_t c = 0; c < 128; c += 8) rate[c] = 0.25;
    for (const auto& pattern :
         {make_all_shifts(static_cast<Rank>(hosts)), make_shift(static_cast<Rank>(hosts), 5)}) {
      for (const auto& rates : {std::vector<double>{}, rate}) {
        const Seating seating{on.places, 1, false};
        const SlowestRounds found = slowest_rounds(*on.resolver, *pattern, seating, 2, rates);
        const BatchResult whole =
            simulate(*on.resolver, *pattern, seating, {1, 0, 1, false}, 1, rates);
        CHECK(found.congestion == whole.round_max_congestion);
        CHECK(found.time == whole.round_max_time);
      }
    }
  }
}
