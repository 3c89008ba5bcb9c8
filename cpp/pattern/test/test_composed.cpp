#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "rounds.hpp"

using namespace contend;
using namespace contend::test;

namespace {

using Shared = std::shared_ptr<const Pattern>;
using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("rounds as given, with their weights") {
  const auto given = make_rounds(4, {0, 2, 2, 3}, {0, 1, 3}, {1, 0, 2}, {5, 6, 7});
  REQUIRE(given->rounds() == 3);
  CHECK(round_of(*given, 0) == Pairs{{0, 1}, {1, 0}});
  CHECK(round_of(*given, 1).empty());
  CHECK(round_of(*given, 2) == Pairs{{3, 2}});
  CHECK_FALSE(given->shares_ends());
  RandomChoices choices({1, 0, 1});
  Messages messages;
  given->fill(0, 0, choices, messages);
  CHECK(messages.weight == Numbers{5, 6});
  // Weights of a round before do not stay behind.
  make_rounds(4, {0, 1}, {0}, {1}, {})->fill(0, 0, choices, messages);
  CHECK(messages.weight.empty());
}

TEST_CASE("given rounds know whether they share ends") {
  // The same sender in two rounds shares nothing, in one round it does.
  CHECK_FALSE(make_rounds(4, {0, 1, 2}, {0, 0}, {1, 1}, {})->shares_ends());
  CHECK(make_rounds(4, {0, 2}, {0, 0}, {1, 2}, {})->shares_ends());
  CHECK(make_rounds(4, {0, 2}, {0, 1}, {2, 2}, {})->shares_ends());
  // Sending and receiving are different directions of a cable.
  CHECK_FALSE(make_rounds(4, {0, 2}, {0, 1}, {1, 0}, {})->shares_ends());
}

TEST_CASE("rounds that do not fit together are refused") {
  CHECK_THROWS_AS(make_rounds(4, {}, {}, {}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0}, {}, {}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 2}, {0}, {1}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 1}, {0}, {1, 2}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 1}, {0}, {1}, {1, 2}), Error);
  CHECK_THROWS_AS(make_rounds(4, {1, 1}, {0}, {1}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 2, 1, 2}, {0, 1}, {1, 0}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 1}, {4}, {1}, {}), Error);
  CHECK_THROWS_AS(make_rounds(4, {0, 1}, {0}, {4}, {}), Error);
}

TEST_CASE("two patterns at once: the second stands on the ranks that follow, the shorter repeats") {
  const Shared tree = make_tree(4);
  const Shared shift = make_shift(3, 1);
  const auto parts = make_parts(tree, shift);
  CHECK(parts->ranks() == 7);
  REQUIRE(parts->rounds() == 2);
  CHECK(round_of(*parts, 0) == Pairs{{0, 1}, {4, 5}, {5, 6}, {6, 4}});
  CHECK(round_of(*parts, 1) == Pairs{{0, 2}, {1, 3}, {4, 5}, {5, 6}, {6, 4}});
  CHECK_FALSE(parts->random());
  CHECK(parts->outcomes() == 1U);
}

TEST_CASE("parts are random, symmetric or share ends as their parts do") {
  const Shared bisect = make_bisect(4, false);
  const Shared gather = make_gather(4);
  const auto both = make_parts(bisect, gather);
  CHECK(both->random());
  CHECK(both->shares_ends());
  // Not any rank may change places with any other.
  CHECK_FALSE(both->symmetric());
  CHECK_FALSE(both->outcomes().has_value());
  CHECK_FALSE(make_parts(bisect, bisect)->shares_ends());
}

TEST_CASE("parts with weights of their own cannot be weighed against each other") {
  const Shared weighted = make_rounds(2, {0, 2}, {0, 1}, {1, 0}, {1, 1000});
  CHECK(weighted->weighted());
  const Shared ring = make_shift(4, 1);
  CHECK_FALSE(ring->weighted());
  CHECK_THROWS_AS(make_parts(ring, weighted), Error);
  CHECK_THROWS_AS(make_parts(weighted, ring), Error);
}

TEST_CASE("an all-to-all within parts has all its pieces") {
  const Shared all = make_all_to_all(3);
  CHECK(round_of(*make_parts(all, all), 0).size() == 12);
}

TEST_CASE("copies stand on every so many-th rank, all of a round at once") {
  const auto rings = make_copies(2, make_shift(3, 1));
  CHECK(rings->ranks() == 6);
  CHECK(rings->rounds() == 1);
  CHECK(rings->messages_expected() == 6);
  CHECK(round_of(*rings, 0) == Pairs{{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}, {5, 1}});
  const auto all = make_copies(3, make_all_to_all(2));
  CHECK(all->shares_ends() == make_all_to_all(2)->shares_ends());
  CHECK(round_of(*all, 0) == Pairs{{0, 3}, {1, 4}, {2, 5}, {3, 0}, {4, 1}, {5, 2}});
  const auto tree = make_copies(2, make_tree(4));
  REQUIRE(tree->rounds() == 2);
  CHECK(round_of(*tree, 1) == Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
}

TEST_CASE("copies of what is drawn are alike, and messages keep their weights") {
  const auto pairs = make_copies(2, make_bisect(6, false));
  CHECK(pairs->random());
  CHECK(pairs->outcomes() == make_bisect(6, false)->outcomes());
  for (const auto& [source, target] : round_of(*pairs, 0, 5)) CHECK(source % 2 == target % 2);
  const auto weighted = make_copies(2, make_rounds(2, {0, 2}, {0, 1}, {1, 0}, {1, 1000}));
  REQUIRE(weighted->weighted());
  Messages out;
  RandomChoices choices({1, 0, 1});
  weighted->fill(0, 0, choices, out);
  CHECK(out.source == std::vector<Rank>{0, 1, 2, 3});
  CHECK(out.weight == Numbers{1, 1, 1000, 1000});
}

TEST_CASE("the rest of a pattern is what it draws between ranks that are left") {
  const Shared whole = make_bisect(6, false);
  const auto rest = make_rest(whole, {0, 1, 0, 0, 0, 0});
  CHECK(rest->outcomes() == whole->outcomes());
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    Pairs expected = round_of(*whole, 0, sample);
    std::erase_if(expected, [](const auto& pair) { return pair.first == 1 || pair.second == 1; });
    CHECK(round_of(*rest, 0, sample) == expected);
  }
  const Shared weighted = make_rounds(3, {0, 2}, {0, 1}, {1, 2}, {1, 1000});
  Messages out;
  RandomChoices choices({1, 0, 1});
  make_rest(weighted, {1, 0, 0})->fill(0, 0, choices, out);
  CHECK(out.weight == Numbers{1000});
  CHECK_THROWS_AS(make_rest(whole, {0, 1}), Error);
}

TEST_CASE("pairs that a table cuts are left out of what is drawn") {
  const Shared whole = make_bisect(6, false);
  // Ranks 0 to 2 are a column and row, the others the second: nothing is sent from the first to it.
  const std::vector<std::uint32_t> half{0, 0, 0, 1, 1, 1};
  const auto rest = make_without_pairs(whole, half, half, {0, 0, 1, 0}, 2);
  CHECK(rest->outcomes() == whole->outcomes());
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    Pairs expected = round_of(*whole, 0, sample);
    std::erase_if(expected, [](const auto& pair) { return pair.first < 3 && pair.second >= 3; });
    CHECK(round_of(*rest, 0, sample) == expected);
  }
  CHECK_THROWS_AS(make_without_pairs(whole, half, half, {0, 0}, 2), Error);
  CHECK_THROWS_AS(make_without_pairs(whole, half, {0, 1}, {0, 0, 1, 0}, 2), Error);
}

TEST_CASE("two random parts draw apart from each other") {
  const Shared bisect = make_bisect(12, false);
  const auto both = make_parts(bisect, bisect);
  std::size_t alike = 0;
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    const Pairs pairs = round_of(*both, 0, sample);
    bool same = true;
    for (std::size_t m = 0; m < 6; ++m) {
      same = same && pairs[m].first + 12 == pairs[6 + m].first;
    }
    alike += same ? 1 : 0;
  }
  CHECK(alike < 5);
}

TEST_CASE("rounds of pairs: every message has its opposite, and no rank has two partners") {
  using namespace contend;
  const auto rounds = [](std::vector<std::uint64_t> begin, std::vector<Rank> source,
                         std::vector<Rank> target, std::vector<std::uint64_t> weight) {
    return make_rounds(6, std::move(begin), std::move(source), std::move(target),
                       std::move(weight));
  };
  CHECK(rounds({0, 4}, {0, 1, 5, 3}, {1, 0, 3, 5}, {})->paired());
  CHECK(rounds({0, 2, 2, 4}, {0, 1, 4, 1}, {1, 0, 1, 4}, {})->paired());
  // A message to oneself, and as many bytes both ways.
  CHECK(rounds({0, 3}, {0, 1, 2}, {1, 0, 2}, {5, 5, 8})->paired());
  CHECK_FALSE(rounds({0, 2}, {0, 1}, {1, 0}, {5, 6})->paired());
  // An opposite in another round, or of another rank; two partners; one message twice.
  CHECK_FALSE(rounds({0, 1, 2}, {0, 1}, {1, 0}, {})->paired());
  CHECK_FALSE(rounds({0, 3}, {0, 1, 2}, {1, 2, 0}, {})->paired());
  CHECK_FALSE(rounds({0, 4}, {0, 1, 0, 2}, {1, 0, 2, 0}, {})->paired());
  CHECK_FALSE(rounds({0, 3}, {0, 1, 0}, {1, 0, 1}, {})->paired());
  CHECK_FALSE(rounds({0, 1}, {2}, {2}, {})->paired());
  CHECK_FALSE(rounds({0, 0}, {}, {}, {})->paired());

  CHECK(make_bisect(7, true)->paired());
  CHECK_FALSE(make_bisect(7, false)->paired());
  for (const Rank ranks : {6U, 16U}) {
    CHECK(make_recursive_doubling(ranks)->paired() == (ranks == 16));
    CHECK(make_bit_complement(ranks)->paired());
    CHECK(make_bit_reversal(ranks)->paired());
    CHECK(make_transpose(ranks)->paired());
    CHECK(make_shift(ranks, ranks / 2)->paired());
    CHECK_FALSE(make_shift(ranks, 1)->paired());
    CHECK_FALSE(make_all_shifts(ranks)->paired());
    CHECK_FALSE(make_all_to_all(ranks)->paired());
    CHECK_FALSE(make_permutation(ranks)->paired());
  }
  const Shared two_way = make_bisect(4, true);
  const Shared ring = make_shift(4, 1);
  CHECK(make_parts(two_way, make_all_to_all(2))->paired());
  CHECK_FALSE(make_parts(two_way, ring)->paired());
  CHECK(make_copies(3, two_way)->paired());
  CHECK_FALSE(make_copies(3, ring)->paired());
}
