#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "chi_square.hpp"
#include "contend/pattern/choices.hpp"
#include "contend/pattern/shuffle.hpp"

using namespace contend;
using namespace contend::test;

TEST_CASE("below(n) draws every number equally often") {
  for (const std::uint32_t n : {1U, 2U, 3U, 6U, 7U, 100U, 1000U}) {
    RandomChoices choices({1, 2, 3});
    std::vector<std::uint64_t> drawn(n, 0);
    for (std::uint32_t i = 0; i < 100 * n; ++i) ++drawn.at(choices.below(n));
    CHECK(excess_over_uniform(drawn) < 4);
  }
}

TEST_CASE("below(n) does not favour numbers where n is no small part of a word") {
  // A plain product would hit numbers divisible by three twice as often as the others.
  constexpr std::uint32_t kLimit = 3U << 30;
  RandomChoices choices({1, 2, 3});
  std::vector<std::uint64_t> by_rest(3, 0);
  for (int i = 0; i < 30'000; ++i) ++by_rest.at(choices.below(kLimit) % 3);
  CHECK(excess_over_uniform(by_rest) < 4);
}

TEST_CASE("below_falling() draws each number below its own limit, all equally often") {
  struct Case {
    std::uint32_t limit;
    std::uint32_t step;
    std::size_t count;
  };
  // The last two go beyond what pairs of numbers are drawn from one word for.
  for (const Case& c : {Case{64, 1, 64}, Case{65, 1, 64}, Case{127, 2, 64}, Case{300, 2, 150},
                        Case{7, 1, 5}, Case{9, 2, 5}, Case{16'500, 2, 70}}) {
    std::vector<std::uint32_t> drawn(c.count);
    constexpr std::uint32_t kBins = 16;
    std::vector<std::vector<std::uint64_t>> bins(c.count);
    for (std::size_t i = 0; i < c.count; ++i) {
      const std::uint32_t limit = c.limit - static_cast<std::uint32_t>(i) * c.step;
      bins[i].assign(std::min(limit, kBins), 0);
    }
    for (std::uint64_t sample = 0; sample < 4000; ++sample) {
      RandomChoices choices({5, sample, 0});
      choices.below_falling(c.limit, c.step, drawn);
      for (std::size_t i = 0; i < c.count; ++i) {
        const std::uint32_t limit = c.limit - static_cast<std::uint32_t>(i) * c.step;
        REQUIRE(drawn[i] < limit);
        // Bins of equal width; what is left over at the top is not counted.
        const std::uint32_t width = limit / static_cast<std::uint32_t>(bins[i].size());
        if (drawn[i] / width < bins[i].size()) ++bins[i][drawn[i] / width];
      }
    }
    double worst = 0;
    for (const auto& bin : bins) worst = std::max(worst, excess_over_uniform(bin));
    CAPTURE(c.limit);
    // Of 150 deviates about one is beyond 2.5.
    CHECK(worst < 5);
  }
}

TEST_CASE("numbers that below_falling() draws together are independent") {
  // The last two of 64: below(2 + 2) and below(2), eight pairs.
  std::vector<std::uint64_t> pairs(4 * 2, 0);
  std::vector<std::uint32_t> drawn(64);
  for (std::uint64_t sample = 0; sample < 8000; ++sample) {
    RandomChoices choices({6, sample, 0});
    choices.below_falling(2 + 63 * 2, 2, drawn);
    ++pairs.at(drawn[62] * 2 + drawn[63]);
  }
  CHECK(excess_over_uniform(pairs) < 4);
}

// Two numbers below L and L - 2 are floor(w * L * (L - 2) / 2^32) of a 32-bit word w. Near L =
// 16,135 about every other such product comes from 17 words, the rest from 16, unless words are
// rejected.
TEST_CASE("below_falling() does not favour numbers that more words lead to") {
  constexpr std::uint32_t kLimit = 16'135;
  std::vector<std::uint32_t> drawn(64);
  double favoured = 0;
  double expected = 0;
  double variance = 0;
  for (std::uint64_t sample = 0; sample < 4000; ++sample) {
    RandomChoices choices({9, sample, 0});
    choices.below_falling(kLimit, 2, drawn);
    std::uint64_t limit = kLimit;
    for (std::size_t i = 0; i < drawn.size(); i += 2, limit -= 4) {
      const std::uint64_t products = limit * (limit - 2);
      const std::uint64_t product = drawn[i] * (limit - 2) + drawn[i + 1];
      const auto first_word = [&](std::uint64_t j) {
        return ((j << 32) + products - 1) / products;
      };
      const std::uint64_t words = first_word(product + 1) - first_word(product);
      const std::uint64_t least = (std::uint64_t{1} << 32) / products;
      REQUIRE((words == least || words == least + 1));
      favoured += words > least ? 1 : 0;
      const double share =
          static_cast<double>((std::uint64_t{1} << 32) % products) / static_cast<double>(products);
      expected += share;
      variance += share * (1 - share);
    }
  }
  CHECK(std::abs(favoured - expected) < 4 * std::sqrt(variance));
}

TEST_CASE("a stream goes on after below_falling()") {
  RandomChoices choices({7, 0, 0});
  std::vector<std::uint32_t> drawn(128);
  choices.below_falling(1000, 1, drawn);
  std::vector<std::uint64_t> seen(10, 0);
  for (int i = 0; i < 10'000; ++i) ++seen.at(choices.below(10));
  CHECK(excess_over_uniform(seen) < 4);
}

TEST_CASE("coins are fair, each of the 32") {
  RandomChoices choices({8, 0, 0});
  std::vector<std::uint64_t> heads(32, 0);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint32_t bits = choices.coins(32);
    for (std::size_t bit = 0; bit < 32; ++bit) heads[bit] += bits >> bit & 1U;
  }
  // 10,000 coins: 5000 heads with a standard deviation of 50.
  for (const std::uint64_t count : heads) CHECK(std::abs(static_cast<double>(count) - 5000) < 220);
}

TEST_CASE("samples, purposes and seeds differ") {
  std::set<std::vector<std::uint32_t>> seen;
  for (const PhiloxStream& stream : std::vector<PhiloxStream>{
           {1, 0, 0}, {2, 0, 0}, {1ULL << 32, 0, 0}, {1, 1, 0}, {1, 1ULL << 32, 0}, {1, 0, 1}}) {
    RandomChoices choices(stream);
    std::vector<std::uint32_t> drawn(8);
    for (std::uint32_t& number : drawn) number = choices.below(1U << 30);
    CHECK(seen.insert(drawn).second);
  }
}

TEST_CASE("enumerated choices make every combination once") {
  // 5 * (4 * 2) * 2^3 outcomes.
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t number = 0; number < 320; ++number) {
    EnumeratedChoices choices(number);
    std::vector<std::uint32_t> falling(2);
    const std::uint32_t first = choices.below(5);
    choices.below_falling(4, 2, falling);
    const std::uint32_t bits = choices.coins(3);
    CHECK(first < 5);
    CHECK(falling[0] < 4);
    CHECK(falling[1] < 2);
    CHECK(bits < 8);
    CHECK(seen.insert({first, falling[0], falling[1], bits}).second);
  }
}

TEST_CASE("shuffling reaches every order, equally often") {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t number = 0; number < 120; ++number) {
    std::vector<std::uint32_t> values{0, 1, 2, 3, 4};
    EnumeratedChoices choices(number);
    shuffle(std::span<std::uint32_t>(values), choices);
    CHECK(std::is_permutation(values.begin(), values.end(), std::vector{0, 1, 2, 3, 4}.begin()));
    orders.insert(values);
  }
  CHECK(orders.size() == 120);
}
