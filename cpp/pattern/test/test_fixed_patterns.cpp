#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "rounds.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Ranks that know what rank 0 knew at first, when receivers learn all that senders know.
std::set<Rank> reached_from_first(const Pattern& pattern) {
  std::set<Rank> know{0};
  for (std::uint32_t round = 0; round < pattern.rounds(); ++round) {
    std::set<Rank> learn;
    for (const auto& [from, to] : round_of(pattern, round)) {
      if (know.contains(from)) learn.insert(to);
    }
    know.merge(learn);
  }
  return know;
}

}  // namespace

TEST_CASE("parameters out of range are refused") {
  CHECK_THROWS_AS(make_shift(5, 0), Error);
  CHECK_THROWS_AS(make_shift(5, 5), Error);
  CHECK_THROWS_AS(make_hot_spot(4, 4), Error);
  CHECK_THROWS_AS(make_hot_spot(4, 0), Error);
  CHECK_THROWS_AS(make_neighbour(4, 4), Error);
  CHECK_THROWS_AS(make_neighbour(4, 0), Error);
  using Extents = std::vector<Rank>;
  for (const Extents& extents : {Extents{}, Extents{3, 3}, Extents{3, 4, 2}, Extents{0, 12},
                                 Extents{1U << 31, 1U << 31, 4}, Extents{65536, 65536, 12}}) {
    CHECK_THROWS_AS(make_halo(12, extents, true), Error);
  }
}

TEST_CASE("some shifts are those of their distances") {
  const auto some = make_shifts(5, {4, 2});
  REQUIRE(some->rounds() == 2);
  CHECK(round_of(*some, 0) == round_of(*make_shift(5, 4), 0));
  CHECK(round_of(*some, 1) == round_of(*make_shift(5, 2), 0));
  CHECK_THROWS_AS(make_shifts(5, {1, 5}), Error);
}

TEST_CASE("all shifts together are every pair once") {
  const auto shifts = make_all_shifts(6);
  std::set<std::pair<Rank, Rank>> seen;
  for (std::uint32_t round = 0; round < shifts->rounds(); ++round) {
    for (const auto& pair : round_of(*shifts, round)) CHECK(seen.insert(pair).second);
  }
  CHECK(seen.size() == 30);
  const Pairs at_once = sorted(round_of(*make_all_to_all(6), 0));
  CHECK(at_once == Pairs(seen.begin(), seen.end()));
}

TEST_CASE("every pair is within a block or between two, and in the exchanges of one of both") {
  for (const Rank block : {2U, 3U, 4U, 6U}) {
    CAPTURE(block);
    const auto within = make_all_to_all_within(12, block);
    const auto between = make_all_to_all(12, block);
    Pairs both = round_of(*within, 0);
    for (const auto& [source, target] : both) CHECK(source / block == target / block);
    const Pairs others = round_of(*between, 0);
    both.insert(both.end(), others.begin(), others.end());
    CHECK(sorted(both) == sorted(round_of(*make_all_to_all(12), 0)));
    Pairs exchanged;
    for (const Exchange& exchange : within->exchanges(0)) {
      for (std::size_t i = 0; i < exchange.rank.size(); ++i) {
        for (std::size_t j = 0; j < exchange.rank.size(); ++j) {
          if (exchange.block[i] != exchange.block[j]) {
            exchanged.emplace_back(exchange.rank[i], exchange.rank[j]);
          }
        }
      }
    }
    CHECK(sorted(exchanged) == sorted(round_of(*within, 0)));
  }
  CHECK_THROWS_AS(make_all_to_all_within(12, 5), Error);
  CHECK_THROWS_AS(make_all_to_all_within(12, 1), Error);
  CHECK_THROWS_AS(make_all_to_all_within(12, 24), Error);
}

TEST_CASE("dissemination, trees and recursive doubling reach everyone") {
  for (Rank ranks = 3; ranks <= 40; ++ranks) {
    CAPTURE(ranks);
    CHECK(reached_from_first(*make_dissemination(ranks)).size() == ranks);
    CHECK(reached_from_first(*make_tree(ranks)).size() == ranks);
    CHECK(reached_from_first(*make_recursive_doubling(ranks)).size() == ranks);
  }
}

TEST_CASE("double tree: two trees over all ranks, nobody inner in both, two rounds") {
  for (Rank ranks = 3; ranks <= 70; ++ranks) {
    CAPTURE(ranks);
    const auto pattern = make_double_tree(ranks);
    std::vector<int> received(ranks, 0);
    std::vector<int> sent(ranks, 0);
    for (std::uint32_t round = 0; round < 2; ++round) {
      const Pairs pairs = round_of(*pattern, round);
      CHECK_FALSE(shares_an_end(pairs, ranks));
      for (const auto& [from, to] : pairs) {
        ++received[to];
        ++sent[from];
      }
    }
    // The source feeds both roots and receives nothing.
    CHECK(sent[0] == 2);
    CHECK(received[0] == 0);
    for (Rank rank = 1; rank < ranks; ++rank) {
      CHECK(received[rank] == 2);
      // Inner in one binary tree at most: two children at most in both together.
      CHECK(sent[rank] <= 2);
    }
    // Each tree of n = p - 1 ranks has an edge to all but its root.
    CHECK(std::accumulate(sent.begin(), sent.end(), 0) == static_cast<int>(2 * (ranks - 1)));
  }
}

TEST_CASE("as many neighbours as there are others is everyone once") {
  for (Rank ranks = 2; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    CHECK(sorted(round_of(*make_neighbour(ranks, ranks - 1), 0)) ==
          sorted(round_of(*make_all_to_all(ranks), 0)));
  }
}
