#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/channel_users.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"

using namespace contend;

namespace {

Seating one_each(std::size_t places, bool random = false) {
  return {contend::test::in_order(places), 1, random};
}

}  // namespace

TEST_CASE("users of channels sum up to what a simulation of the same samples counts") {
  const auto on = contend::test::make_random_fabric(3, 9, 25, 10);
  const auto resolver = on.tabled(contend::test::all_hosts(on.fabric));
  const auto pattern = make_permutation(static_cast<Rank>(resolver->places()));
  const Seating seating = one_each(resolver->places(), true);
  const Samples samples{7, 5, 40, false};
  const BatchResult counted = simulate(*resolver, *pattern, seating, samples, 1);
  const std::vector<std::uint32_t> channels = contend::test::in_order(resolver->switch_channels());
  for (const int threads : {1, 3}) {
    const ChannelUsers users =
        channel_users(*resolver, *pattern, seating, samples, channels, {}, threads);
    for (const std::uint32_t c : channels) {
      for (const auto* by_place : {&users.sources, &users.targets}) {
        const auto row = by_place->begin() + static_cast<std::ptrdiff_t>(c * resolver->places());
        const auto end = row + static_cast<std::ptrdiff_t>(resolver->places());
        CHECK(std::accumulate(row, end, std::uint64_t{0}) == counted.channel_messages[c]);
      }
    }
  }
}

TEST_CASE("channels that do not exist or are named twice are refused") {
  const contend::test::ClockwiseRing ring(3);
  const auto resolver = ring.tabled(contend::test::all_hosts(ring.fabric));
  const auto pattern = make_all_shifts(3);
  const auto users = [&](const std::vector<std::uint32_t>& channels) {
    return channel_users(*resolver, *pattern, one_each(3), {1, 0, 1, false}, channels, {}, 1);
  };
  CHECK_THROWS_AS(users({12}), Error);
  CHECK_THROWS_AS(users({2, 2}), Error);
  CHECK_THROWS_AS(channel_users(*resolver, *make_all_shifts(4), one_each(3), {1, 0, 1, false},
                                std::vector<std::uint32_t>{0}, {}, 1),
                  Error);
}
