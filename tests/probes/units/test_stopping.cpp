#include <doctest/doctest.h>

#include <numeric>

#include "timing/pacing.hpp"

using namespace contend::probe;

namespace {

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

}  // namespace

TEST_CASE("fewer than six values give no interval") {
  CHECK_FALSE(median_interval(numbers(5)).has_value());
  CHECK(median_interval(numbers(6)).has_value());
}

// Ranks from Le Boudec, Performance Evaluation, table A.1 (95 %).
TEST_CASE("the interval's ends are the tabulated order statistics") {
  const struct {
    std::size_t count;
    double low;
    double high;
  } rows[] = {{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {20, 6, 15}, {50, 18, 33}, {70, 27, 44}};
  for (const auto& row : rows) {
    CAPTURE(row.count);
    const auto interval = median_interval(numbers(row.count));
    REQUIRE(interval.has_value());
    CHECK(interval->low == row.low);
    CHECK(interval->high == row.high);
    CHECK(interval->median == (static_cast<double>(row.count) + 1.0) / 2.0);
  }
}

// The k-th value from either end is the last with P(B < k) <= 2.5 % for B binomial(n, 1/2), by the
// incomplete beta function. (n - 1.96 sqrt(n)) / 2 values left out are one too many at 1,099.
TEST_CASE("the interval's ends are exact however many values there are") {
  const struct {
    std::size_t count;
    double low;
  } rows[] = {{1000, 469}, {1001, 470}, {1002, 470}, {1099, 517}, {5000, 2431}, {1000000, 499020}};
  for (const auto& row : rows) {
    CAPTURE(row.count);
    const auto interval = median_interval(numbers(row.count));
    CHECK(interval->low == row.low);
    CHECK(interval->high == static_cast<double>(row.count) + 1.0 - row.low);
  }
}

TEST_CASE("late results are left out, unless too few are left") {
  Results results;
  for (int number = 1; number <= 5; ++number) {
    results.add(1.0, false);
    results.add(9.0, true);
  }
  CHECK(results.used().size() == 10);
  results.add(1.0, false);
  CHECK(results.used().size() == 6);
  CHECK(results.used().back() == 1.0);
  CHECK(results.count() == 11);
  CHECK(results.late() == 5);
}

TEST_CASE("an interval is narrow by its half width over the median") {
  Results results;
  for (const double value : {95.0, 98.0, 100.0, 100.0, 102.0, 105.0}) {
    results.add(value, false);
  }
  CHECK(results.narrow(0.05));
  CHECK_FALSE(results.narrow(0.049));
}

TEST_CASE("precision 0 is never reached, not even by results that are all alike") {
  Results results;
  for (int count = 0; count < 20; ++count) {
    results.add(1.0, false);
  }
  CHECK(results.narrow(1e-9));
  CHECK_FALSE(results.narrow(0.0));
}

TEST_CASE("late is more than 5 % of the result and more than 10 us") {
  CHECK_FALSE(too_late(10e-6, 1e-6));
  CHECK(too_late(11e-6, 1e-6));
  CHECK_FALSE(too_late(49e-6, 1e-3));
  CHECK(too_late(51e-6, 1e-3));
}
