// Exchanges counted by leaf and target, held to counting message by message.

#include "../src/exchanges/exchanges.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "naive.hpp"

using namespace contend;
using namespace contend::test;

namespace {

using Shared = std::shared_ptr<const Pattern>;

/// Of 24 ranks.
std::vector<std::pair<std::string, Shared>> every_exchange() {
  std::vector<std::uint8_t> gone(24, 0);
  gone[0] = gone[7] = gone[8] = 1;
  return {{"all", make_all_to_all(24)},
          {"blocks", make_all_to_all(24, 4)},
          {"two blocks", make_all_to_all(24, 12)},
          {"copies", make_copies(4, make_all_to_all(6))},
          {"copies of blocks", make_copies(2, make_all_to_all(12, 3))},
          {"parts", make_parts(make_all_to_all(8), make_all_to_all(16, 2))},
          {"rest", make_rest(make_all_to_all(24, 3), gone)}};
}

std::vector<double> rates(std::uint32_t seed, std::size_t channels) {
  std::mt19937 engine(seed);
  std::vector<double> rate(channels);
  for (double& each : rate) each = static_cast<double>(1U << engine() % 3);
  return rate;
}

}  // namespace

TEST_CASE("exchanges come to what counting message by message comes to") {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    const RandomFabric on = make_random_fabric(seed, 1 + seed % 6, 30, 3 * seed, seed % 2);
    const Places places{some_hosts(seed, on.fabric, 24), false};
    const auto tabled = on.tabled(places);
    const auto walking = on.walking(places);
    std::mt19937 engine(seed);
    std::vector<Place> several;
    for (int k = 0; k < 24; ++k) several.push_back(engine() % 24);
    const std::vector<double> rate =
        seed % 3 == 0 ? rates(seed, on.fabric.switch_channels() + 48) : std::vector<double>{};
    for (const Seating& seating :
         {Seating{in_order(24), 1, false}, Seating{in_order(24), 1, true},
          Seating{in_order(24), 3, true}, Seating{several, 1, false}, Seating{several, 2, true}}) {
      for (const auto& [name, pattern] : every_exchange()) {
        CAPTURE(name);
        Naive naive(on, places, *pattern, seating, rate);
        const Samples samples{11, 5, seed % 4 == 0 ? 3U : 1U, false};
        naive.run(samples);
        for (const Resolver* resolver : {tabled.get(), walking.get()}) {
          // Few messages would be counted faster one by one, and must come to the same.
          const bool many = 2 * pattern->messages_expected() >= 24 * on.fabric.switches();
          CHECK(counts_exchanges(*resolver, *pattern) == many);
          const BatchResult one = simulate(*resolver, *pattern, seating, samples, 1, rate);
          check_same(one, naive.result(), on.fabric.switch_channels());
          check_identical(one, simulate(*resolver, *pattern, seating, samples, 3, rate));
        }
      }
    }
  }
}

TEST_CASE("what depends on more than leaf and target, or is no exchange, is counted one by one") {
  const RandomFabric on = make_random_fabric(3, 3, 30, 9, 1);
  const Places places{in_order(24), true};
  const auto spread = on.tabled(places);
  CHECK_FALSE(counts_exchanges(*spread, *make_all_to_all(24)));
  const Places first{in_order(24), false};
  const auto resolver = on.tabled(first);
  CHECK(counts_exchanges(*resolver, *make_all_to_all(24)));
  CHECK_FALSE(counts_exchanges(*resolver, *make_all_shifts(24)));
  const auto mixed = make_parts(make_all_to_all(12), make_all_shifts(12));
  CHECK_FALSE(counts_exchanges(*resolver, *mixed));
}

TEST_CASE(
    "exchanges of more messages on a channel than pi is told of are refused, and none wraps") {
  // 2 hosts on each of 2 switches, 2^15 ranks on a host: 2^32 messages from one switch to the
  // other.
  const RandomFabric on{{{0, 0, 1, 1}, {2, 3, 2, 3}, {4, 4}, {{0, 1, 1, 1}}},
                        {1, 2, 3, 4},
                        {0, 0, 0, 0},
                        5,
                        {kNoPort, 2, 3, 1, 1, kNoPort, 1, 1, 2, 3}};
  const auto resolver = on.tabled({in_order(4), false});
  const auto all = [&](Rank ranks_per_slot) {
    return simulate(*resolver, *make_all_to_all(4 * ranks_per_slot),
                    {in_order(4), ranks_per_slot, false}, {1, 0, 1, false}, 1);
  };
  CHECK_THROWS_WITH_AS(
      all(1U << 15), "at most 2147483647 messages on a channel in one round can be counted", Error);
  const BatchResult found = all(1U << 12);
  CHECK(found.channel_messages[0] == std::uint64_t{1} << 26);
  CHECK(found.channel_messages[1] == std::uint64_t{1} << 26);
  // To two hosts across, and to the one beside.
  CHECK(found.channel_messages[2] == 3 * (std::uint64_t{1} << 24));
  REQUIRE(found.histogram.size() == (std::size_t{1} << 26) + 1);
  CHECK(found.histogram[std::size_t{1} << 26] == std::uint64_t{1} << 27);
}
