#include <doctest/doctest.h>

#include <map>
#include <set>

#include "chi_square.hpp"
#include "contend/base/error.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "rounds.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// p! / (p / 2)! one-way patterns of an even p; an odd p has one of them for each rank that sits
/// out.
std::uint64_t one_way_patterns(std::uint64_t p) {
  if (p % 2 == 1) return p * one_way_patterns(p - 1);
  std::uint64_t count = 1;
  for (std::uint64_t k = p / 2 + 1; k <= p; ++k) count *= k;
  return count;
}

}  // namespace

TEST_CASE("enumerating bisects yields p! / (p/2)! patterns, each once") {
  for (const Rank ranks : {2U, 3U, 4U, 5U, 6U, 7U}) {
    const auto bisect = make_bisect(ranks, false);
    REQUIRE(bisect->outcomes() == one_way_patterns(ranks));
    std::set<Pairs> seen;
    for (std::uint64_t number = 0; number < *bisect->outcomes(); ++number) {
      const Pairs pairs = outcome_of(*bisect, number);
      CHECK(pairs.size() == ranks / 2);
      std::set<Rank> taking_part;
      for (const auto& [from, to] : pairs) taking_part.insert({from, to});
      CHECK(taking_part.size() == ranks - ranks % 2);
      CHECK(*taking_part.rbegin() < ranks);
      CHECK(seen.insert(sorted(pairs)).second);
    }
  }
}

TEST_CASE("two-way, both of each pair send: (p - 1)!! patterns") {
  const std::map<Rank, std::uint64_t> expected{{4, 3}, {5, 15}, {6, 15}, {8, 105}};
  for (const auto& [ranks, count] : expected) {
    const auto bisect = make_bisect(ranks, true);
    REQUIRE(bisect->outcomes() == count);
    std::set<Pairs> seen;
    for (std::uint64_t number = 0; number < count; ++number) {
      const Pairs pairs = sorted(outcome_of(*bisect, number));
      CHECK(pairs.size() == ranks - ranks % 2);
      for (const auto& [from, to] : pairs) {
        CHECK(std::count(pairs.begin(), pairs.end(), std::pair{to, from}) == 1);
      }
      CHECK(seen.insert(pairs).second);
    }
  }
}

TEST_CASE("16 ranks have 518,918,400 one-way bisects; too many are not counted") {
  CHECK(make_bisect(16, false)->outcomes() == 518'918'400U);
  CHECK(make_bisect(24, false)->outcomes() == 1'295'295'050'649'600U);
  CHECK_FALSE(make_bisect(40, false)->outcomes().has_value());
  CHECK_FALSE(make_bisect(4391, true)->outcomes().has_value());
}

TEST_CASE("drawn bisects of four and of five ranks are equally likely") {
  for (const Rank ranks : {4U, 5U}) {
    const auto bisect = make_bisect(ranks, false);
    std::map<Pairs, std::uint64_t> drawn;
    for (std::uint64_t sample = 0; sample < 12'000; ++sample) {
      ++drawn[sorted(round_of(*bisect, 0, sample))];
    }
    CHECK(drawn.size() == *bisect->outcomes());
    std::vector<std::uint64_t> counts;
    for (const auto& [pattern, count] : drawn) counts.push_back(count);
    CHECK(excess_over_uniform(counts) < 4);
  }
}

TEST_CASE("of many ranks everyone is paired once, with anyone, and either may send") {
  // Enough ranks that partners are drawn two from a word, and not a multiple of any group.
  constexpr Rank kRanks = 141;
  const auto bisect = make_bisect(kRanks, false);
  std::vector<std::uint64_t> partner_of_first(kRanks - 1, 0);
  std::vector<std::uint64_t> partner_of_last(kRanks - 1, 0);
  std::vector<std::uint64_t> idle(kRanks, 0);
  std::vector<std::uint64_t> sent(kRanks, 0);
  for (std::uint64_t sample = 0; sample < 6000; ++sample) {
    std::vector<Rank> partner(kRanks, kRanks);
    for (const auto& [from, to] : round_of(*bisect, 0, sample)) {
      REQUIRE(partner.at(from) == kRanks);
      REQUIRE(partner.at(to) == kRanks);
      REQUIRE(from != to);
      partner[from] = to;
      partner[to] = from;
      ++sent[from];
    }
    const auto alone = std::find(partner.begin(), partner.end(), kRanks);
    REQUIRE(std::count(alone, partner.end(), kRanks) == 1);
    ++idle[static_cast<std::size_t>(alone - partner.begin())];
    if (partner[0] < kRanks) ++partner_of_first[partner[0] - 1];
    if (partner[kRanks - 1] < kRanks) ++partner_of_last[partner[kRanks - 1]];
  }
  CHECK(excess_over_uniform(partner_of_first) < 4);
  CHECK(excess_over_uniform(partner_of_last) < 4);
  CHECK(excess_over_uniform(idle) < 4);
  CHECK(excess_over_uniform(sent) < 4);
}

TEST_CASE("a bisect needs two ranks") {
  CHECK_THROWS_AS(make_bisect(0, false), Error);
  CHECK_THROWS_AS(make_bisect(1, true), Error);
}
