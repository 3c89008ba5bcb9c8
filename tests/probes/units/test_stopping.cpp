#include <doctest/doctest.h>

#include <numeric>

#include "common/pacing.hpp"

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

TEST_CASE("the normal approximation goes on where the exact ranks end") {
  const auto exact = median_interval(numbers(1000));
  const auto approximate = median_interval(numbers(1001));
  CHECK(exact->low == 469);
  CHECK(exact->high == 532);
  // (1001 - 1.96 sqrt(1001)) / 2 = 469.5 values are left out on each side.
  CHECK(approximate->low == 470);
  CHECK(approximate->high == 532);
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
