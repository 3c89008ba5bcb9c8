#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "rounds.hpp"

using contend::Pattern;
using contend::Rank;
using contend::test::Pairs;
using contend::test::round_of;
using contend::test::sorted;

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

TEST_CASE("shifts") {
  CHECK(round_of(*contend::make_shift(5, 2), 0) == Pairs{{0, 2}, {1, 3}, {2, 4}, {3, 0}, {4, 1}});
  CHECK(round_of(*contend::make_pipeline(4), 0) == Pairs{{0, 1}, {1, 2}, {2, 3}});
  // ceil(p / 2) - 1 ahead: 3 of 8, 2 of 5.
  CHECK(round_of(*contend::make_tornado(8), 0)[6] == std::pair<Rank, Rank>{6, 1});
  CHECK(round_of(*contend::make_tornado(5), 0)[0] == std::pair<Rank, Rank>{0, 2});
  CHECK_THROWS_AS(contend::make_shift(5, 0), contend::Error);
  CHECK_THROWS_AS(contend::make_shift(5, 5), contend::Error);
}

TEST_CASE("some shifts are those of their distances") {
  const auto some = contend::make_shifts(5, {4, 2});
  REQUIRE(some->rounds() == 2);
  CHECK(round_of(*some, 0) == round_of(*contend::make_shift(5, 4), 0));
  CHECK(round_of(*some, 1) == round_of(*contend::make_shift(5, 2), 0));
  CHECK_THROWS_AS(contend::make_shifts(5, {1, 5}), contend::Error);
}

TEST_CASE("all shifts together are every pair once") {
  const auto shifts = contend::make_all_shifts(6);
  std::set<std::pair<Rank, Rank>> seen;
  for (std::uint32_t round = 0; round < shifts->rounds(); ++round) {
    for (const auto& pair : round_of(*shifts, round)) CHECK(seen.insert(pair).second);
  }
  CHECK(seen.size() == 30);
  const Pairs at_once = sorted(round_of(*contend::make_all_to_all(6), 0));
  CHECK(at_once == Pairs(seen.begin(), seen.end()));
}

TEST_CASE("dissemination, trees and recursive doubling reach everyone") {
  for (Rank ranks = 3; ranks <= 40; ++ranks) {
    CAPTURE(ranks);
    CHECK(reached_from_first(*contend::make_dissemination(ranks)).size() == ranks);
    CHECK(reached_from_first(*contend::make_tree(ranks)).size() == ranks);
    CHECK(reached_from_first(*contend::make_recursive_doubling(ranks)).size() == ranks);
  }
}

TEST_CASE("recursive doubling: partners send to each other, ranks beyond 2^k fold in and out") {
  const auto of_six = contend::make_recursive_doubling(6);
  REQUIRE(of_six->rounds() == 4);
  CHECK(round_of(*of_six, 0) == Pairs{{4, 0}, {5, 1}});
  CHECK(round_of(*of_six, 1) == Pairs{{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  CHECK(round_of(*of_six, 2) == Pairs{{0, 2}, {1, 3}, {2, 0}, {3, 1}});
  CHECK(round_of(*of_six, 3) == Pairs{{0, 4}, {1, 5}});
  for (const Rank ranks : {2U, 8U, 32U}) {
    const auto doubling = contend::make_recursive_doubling(ranks);
    for (std::uint32_t round = 0; round < doubling->rounds(); ++round) {
      for (const auto& [from, to] : round_of(*doubling, round)) CHECK((from ^ to) == 1U << round);
    }
  }
}

TEST_CASE("binomial tree of six") {
  const auto tree = contend::make_tree(6);
  REQUIRE(tree->rounds() == 3);
  CHECK(round_of(*tree, 0) == Pairs{{0, 1}});
  CHECK(round_of(*tree, 1) == Pairs{{0, 2}, {1, 3}});
  CHECK(round_of(*tree, 2) == Pairs{{0, 4}, {1, 5}});
}

TEST_CASE("double tree: two trees over all ranks, nobody inner in both, two rounds") {
  for (Rank ranks = 3; ranks <= 70; ++ranks) {
    CAPTURE(ranks);
    const auto pattern = contend::make_double_tree(ranks);
    std::vector<int> received(ranks, 0);
    std::vector<int> sent(ranks, 0);
    for (std::uint32_t round = 0; round < 2; ++round) {
      const Pairs pairs = round_of(*pattern, round);
      CHECK_FALSE(contend::test::shares_an_end(pairs, ranks));
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

TEST_CASE("double tree of eight ranks, by hand") {
  // In symmetric order over seven places: 3 over 1 and 5, those over 0, 2 and 4, 6; the second tree
  // is the same moved on by one place.
  const auto pattern = contend::make_double_tree(8);
  Pairs all = round_of(*pattern, 0);
  for (const auto& pair : round_of(*pattern, 1)) all.push_back(pair);
  CHECK(sorted(all) == Pairs{{0, 4},
                             {0, 5},
                             {2, 1},
                             {2, 3},
                             {3, 2},
                             {3, 4},
                             {4, 2},
                             {4, 6},
                             {5, 3},
                             {5, 7},
                             {6, 5},
                             {6, 7},
                             {7, 1},
                             {7, 6}});
}

TEST_CASE("shared ends") {
  CHECK(round_of(*contend::make_scatter(4), 0) == Pairs{{0, 1}, {0, 2}, {0, 3}});
  CHECK(round_of(*contend::make_gather(4), 0) == Pairs{{1, 0}, {2, 0}, {3, 0}});
  CHECK(round_of(*contend::make_hot_spot(7, 2), 0) ==
        Pairs{{2, 0}, {3, 1}, {4, 0}, {5, 1}, {6, 0}});
  CHECK(sorted(round_of(*contend::make_neighbour(5, 3), 0)) == Pairs{{0, 1},
                                                                     {0, 2},
                                                                     {0, 4},
                                                                     {1, 0},
                                                                     {1, 2},
                                                                     {1, 3},
                                                                     {2, 1},
                                                                     {2, 3},
                                                                     {2, 4},
                                                                     {3, 0},
                                                                     {3, 2},
                                                                     {3, 4},
                                                                     {4, 0},
                                                                     {4, 1},
                                                                     {4, 3}});
  CHECK_THROWS_AS(contend::make_hot_spot(4, 4), contend::Error);
  CHECK_THROWS_AS(contend::make_hot_spot(4, 0), contend::Error);
  CHECK_THROWS_AS(contend::make_neighbour(4, 4), contend::Error);
  CHECK_THROWS_AS(contend::make_neighbour(4, 0), contend::Error);
}

TEST_CASE("as many neighbours as there are others is everyone once") {
  for (Rank ranks = 2; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    CHECK(sorted(round_of(*contend::make_neighbour(ranks, ranks - 1), 0)) ==
          sorted(round_of(*contend::make_all_to_all(ranks), 0)));
  }
}
