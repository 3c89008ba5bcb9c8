#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "chi_square.hpp"
#include "contend/base/error.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "rounds.hpp"

using namespace contend;
using namespace contend::test;

TEST_CASE("a permutation: nobody sends or receives twice, all p! once") {
  const auto permutation = make_permutation(5);
  REQUIRE(permutation->outcomes() == 120U);
  std::set<Pairs> seen;
  std::size_t messages = 0;
  for (std::uint64_t number = 0; number < 120; ++number) {
    const Pairs pairs = outcome_of(*permutation, number);
    CHECK_FALSE(shares_an_end(pairs, 5));
    messages += pairs.size();
    seen.insert(sorted(pairs));
  }
  CHECK(seen.size() == 120);
  // On average one of p is mapped to itself.
  CHECK(messages == 4 * 120);
}

TEST_CASE("uniform traffic: everyone sends once, to anyone else") {
  const auto uniform = make_uniform(4);
  REQUIRE(uniform->outcomes() == 81U);
  std::set<Pairs> seen;
  for (std::uint64_t number = 0; number < 81; ++number) {
    const Pairs pairs = outcome_of(*uniform, number);
    REQUIRE(pairs.size() == 4);
    for (Rank rank = 0; rank < 4; ++rank) {
      CHECK(pairs[rank].first == rank);
      CHECK(pairs[rank].second != rank);
      CHECK(pairs[rank].second < 4);
    }
    CHECK(seen.insert(pairs).second);
  }
  std::vector<std::uint64_t> received(3, 0);
  for (std::uint64_t sample = 0; sample < 6000; ++sample) {
    const Rank to = round_of(*uniform, 0, sample)[1].second;
    ++received.at(to < 1 ? to : to - 1);
  }
  CHECK(excess_over_uniform(received) < 4);
}

TEST_CASE("localised traffic stays in its block with the share asked for") {
  // Ranks 0-3 and 4-7 are blocks, rank 8 is alone in its own and always sends to anyone.
  const auto localised = make_localised(9, 4, 70);
  std::uint64_t inside = 0;
  std::uint64_t of_whole_blocks = 0;
  std::vector<std::uint64_t> of_last(8, 0);
  for (std::uint64_t sample = 0; sample < 6000; ++sample) {
    const Pairs pairs = round_of(*localised, 0, sample);
    REQUIRE(pairs.size() == 9);
    for (const auto& [from, to] : pairs) {
      REQUIRE(to < 9);
      REQUIRE(to != from);
      if (from == 8) {
        ++of_last[to];
      } else {
        ++of_whole_blocks;
        inside += from / 4 == to / 4 ? 1 : 0;
      }
    }
  }
  // 70 %, and 3 in 8 of the others: 0.7 + 0.3 * 3 / 8.
  CHECK(static_cast<double>(inside) / static_cast<double>(of_whole_blocks) ==
        doctest::Approx(0.8125).epsilon(0.01));
  CHECK(excess_over_uniform(of_last) < 4);
  CHECK_FALSE(localised->outcomes().has_value());
  CHECK_FALSE(localised->symmetric());

  for (const auto& [from, to] : round_of(*make_localised(8, 4, 100), 0)) {
    CHECK(from / 4 == to / 4);
  }
}

TEST_CASE("hot-spot traffic sends the share asked for to the hot spots") {
  // All of it to one spot, which itself sends to anyone.
  const auto all = make_hot_spot_traffic(10, 1, 100);
  std::vector<std::uint64_t> spots(10, 0);
  for (std::uint64_t sample = 0; sample < 3000; ++sample) {
    std::map<Rank, int> received;
    for (const auto& [from, to] : round_of(*all, 0, sample)) {
      REQUIRE(from != to);
      ++received[to];
    }
    const auto hot = std::max_element(received.begin(), received.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
    CHECK(hot->second == 9);
    ++spots.at(hot->first);
  }
  CHECK(excess_over_uniform(spots) < 4);

  // Two spots that share half of the traffic of 100 ranks: each gets about 25, and of the rest
  // 1/99.
  const auto half = make_hot_spot_traffic(100, 2, 50);
  std::uint64_t hottest_two = 0;
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    std::vector<std::uint64_t> received(100, 0);
    for (const auto& [from, to] : round_of(*half, 0, sample)) ++received.at(to);
    std::sort(received.rbegin(), received.rend());
    hottest_two += received[0] + received[1];
  }
  CHECK(static_cast<double>(hottest_two) / 200 == doctest::Approx(51).epsilon(0.03));
}

TEST_CASE("parameters out of range are refused") {
  CHECK_THROWS_AS(make_permutation(1), Error);
  CHECK_THROWS_AS(make_uniform(1), Error);
  CHECK_THROWS_AS(make_localised(8, 1, 50), Error);
  CHECK_THROWS_AS(make_localised(8, 4, 101), Error);
  CHECK_THROWS_AS(make_hot_spot_traffic(8, 0, 50), Error);
  CHECK_THROWS_AS(make_hot_spot_traffic(8, 5, 50), Error);
  CHECK_THROWS_AS(make_hot_spot_traffic(8, 1, 101), Error);
}
