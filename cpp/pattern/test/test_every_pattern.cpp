// What holds for every pattern and any number of ranks.

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "rounds.hpp"

using namespace contend;
using namespace contend::test;

namespace {

std::size_t ceil_log2(Rank p) {
  std::size_t r = 0;
  while ((std::size_t{1} << r) < p) ++r;
  return r;
}

bool is_power_of_two(Rank p) { return (p & (p - 1)) == 0; }

Rank core_of(Rank p) { return Rank{1} << (is_power_of_two(p) ? ceil_log2(p) : ceil_log2(p) - 1); }

using Make = std::function<std::unique_ptr<Pattern>(Rank)>;
using Count = std::function<std::size_t(Rank)>;

struct Family {
  std::string name;
  Rank least;
  Make make;
  Count rounds;
  Count messages;  ///< over all rounds
};

std::size_t one(Rank) { return 1; }

/// Messages that do not depend on chance or parameters, by formula.
const std::vector<Family>& families() {
  using namespace contend;
  static const std::vector<Family> all{
      {"bisect", 2, [](Rank p) { return make_bisect(p, false); }, one,
       [](Rank p) { return p / 2; }},
      {"bisect:two-way", 2, [](Rank p) { return make_bisect(p, true); }, one,
       [](Rank p) { return p / 2 * 2; }},
      {"uniform", 2, make_uniform, one, [](Rank p) { return p; }},
      {"localised", 2, [](Rank p) { return make_localised(p, 3, 80); }, one,
       [](Rank p) { return p; }},
      {"hot-spot traffic", 2, [](Rank p) { return make_hot_spot_traffic(p, 1, 30); }, one,
       [](Rank p) { return p; }},
      {"shift", 2, [](Rank p) { return make_shift(p, p - 1); }, one, [](Rank p) { return p; }},
      {"shifts", 2, make_all_shifts, [](Rank p) { return p - 1; },
       [](Rank p) { return p * (p - 1); }},
      {"two shifts", 2, [](Rank p) { return make_shifts(p, {p - 1, 1}); }, [](Rank) { return 2; },
       [](Rank p) { return 2 * p; }},
      {"dissemination", 2, make_dissemination, ceil_log2, [](Rank p) { return p * ceil_log2(p); }},
      {"recursive doubling", 2, make_recursive_doubling,
       [](Rank p) { return ceil_log2(core_of(p)) + (is_power_of_two(p) ? 0 : 2); },
       [](Rank p) { return core_of(p) * ceil_log2(core_of(p)) + 2 * (p - core_of(p)); }},
      {"tree", 2, make_tree, ceil_log2, [](Rank p) { return p - 1; }},
      {"double tree", 3, make_double_tree, [](Rank) { return 2; },
       [](Rank p) { return 2 * (p - 1); }},
      {"pipeline", 2, make_pipeline, one, [](Rank p) { return p - 1; }},
      {"tornado", 3, make_tornado, one, [](Rank p) { return p; }},
      {"scatter", 2, make_scatter, one, [](Rank p) { return p - 1; }},
      {"gather", 2, make_gather, one, [](Rank p) { return p - 1; }},
      {"hot-spot", 3, [](Rank p) { return make_hot_spot(p, 2); }, one,
       [](Rank p) { return p - 2; }},
      {"all-to-all", 2, [](Rank p) { return make_all_to_all(p); }, one,
       [](Rank p) { return p * (p - 1); }},
      {"all-to-all within blocks", 2,
       [](Rank p) { return make_all_to_all_within(p, p % 2 == 0 && p > 2 ? p / 2 : p); }, one,
       [](Rank p) { return p * ((p % 2 == 0 && p > 2 ? p / 2 : p) - 1); }},
      {"neighbour", 4, [](Rank p) { return make_neighbour(p, 3); }, one,
       [](Rank p) { return 3 * p; }},
      {"halo", 2, [](Rank p) { return make_halo(p, std::vector<Rank>{p}, true); }, one,
       [](Rank p) { return p == 2 ? 2 : 2 * p; }},
      // Of the 2^k ranks that turn their bits round, 2^ceil(k / 2) stay where they are.
      {"bit reversal", 4, make_bit_reversal, one,
       [](Rank p) { return core_of(p) - (1U << (ceil_log2(core_of(p)) + 1) / 2); }},
      {"bit complement", 2, make_bit_complement, one, [](Rank p) { return p / 2 * 2; }}};
  return all;
}

}  // namespace

TEST_CASE("rounds and messages are as many as the formula says, between other ranks in range") {
  for (const Family& family : families()) {
    for (Rank ranks = family.least; ranks <= 40; ++ranks) {
      CAPTURE(family.name);
      CAPTURE(ranks);
      const auto pattern = family.make(ranks);
      CHECK(pattern->ranks() == ranks);
      CHECK(pattern->rounds() == family.rounds(ranks));
      std::size_t messages = 0;
      for (std::uint32_t round = 0; round < pattern->rounds(); ++round) {
        const Pairs pairs = round_of(*pattern, round);
        messages += pairs.size();
        for (const auto& [from, to] : pairs) {
          REQUIRE(from < ranks);
          REQUIRE(to < ranks);
          REQUIRE(from != to);
        }
        if (!pattern->shares_ends()) CHECK_FALSE(shares_an_end(pairs, ranks));
      }
      CHECK(messages == family.messages(ranks));
    }
  }
}

TEST_CASE("a pattern that is not random is the same in every sample, one that is differs") {
  for (const Family& family : families()) {
    CAPTURE(family.name);
    const auto pattern = family.make(30);
    CHECK((round_of(*pattern, 0, 1) == round_of(*pattern, 0, 2)) == !pattern->random());
    CHECK(round_of(*pattern, 0, 1) == round_of(*pattern, 0, 1));
    if (!pattern->random()) CHECK(pattern->outcomes() == 1U);
  }
}

TEST_CASE("the first ranks alone send what they send among all, where all send as far") {
  std::size_t found = 0;
  for (const Family& family : families()) {
    CAPTURE(family.name);
    const auto pattern = family.make(30);
    const auto first = pattern->of_first(7);
    if (!first) continue;
    ++found;
    CHECK(first->rounds() == pattern->rounds());
    CHECK(first->ranks() == 30);
    CHECK(first->messages_expected() == 7 * pattern->rounds());
    for (std::uint32_t round = 0; round < pattern->rounds(); ++round) {
      const Pairs all = round_of(*pattern, round);
      CHECK(round_of(*first, round) == Pairs(all.begin(), all.begin() + 7));
      for (const auto& [from, to] : all) {
        CHECK((30 + to - from) % 30 == (30 + all[0].second - all[0].first) % 30);
      }
    }
  }
  // Shift, shifts of all and of two distances, dissemination and tornado.
  CHECK(found == 5);
}

TEST_CASE("too few ranks are refused") {
  for (const Family& family : families()) {
    CAPTURE(family.name);
    CHECK_THROWS_AS(family.make(family.least - 1), Error);
  }
}
