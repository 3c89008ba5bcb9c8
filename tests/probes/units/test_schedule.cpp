#include <doctest/doctest.h>

#include <limits>

#include "timing/pacing.hpp"

using namespace contend::probe;

TEST_CASE("each cell gets an equal share of the time left") {
  Schedule schedule(4, 100.0);
  CHECK(schedule.next(0.0)->until == 25.0);
  // The first took 10 of its 25: (100 - 10) / 3.
  CHECK(schedule.next(10.0)->until == 40.0);
  // The second took too long: (100 - 60) / 2.
  CHECK(schedule.next(60.0)->until == 80.0);
  const auto last = schedule.next(70.0);
  CHECK(last->cell == 3);
  CHECK(last->until == 100.0);
  CHECK_FALSE(schedule.next(75.0).has_value());
  CHECK(schedule.given_up().empty());
}

TEST_CASE("cells that were not done share what is left in further rounds") {
  Schedule schedule(3, 90.0);
  CHECK(schedule.next(0.0)->cell == 0);
  schedule.again(0, 5.0);
  CHECK(schedule.next(30.0)->cell == 1);
  CHECK(schedule.next(31.0)->cell == 2);
  schedule.again(2, 5.0);
  const auto again = schedule.next(50.0);
  CHECK(again->cell == 0);
  CHECK(again->until == 70.0);
  CHECK(schedule.next(60.0)->cell == 2);
  schedule.again(2, 5.0);
  // 4 s are less than the 5 s that a turn of it takes.
  CHECK_FALSE(schedule.next(86.0).has_value());
  CHECK(schedule.given_up() == std::vector<std::size_t>{2});
}

TEST_CASE("when time is over all cells left are given up") {
  Schedule schedule(3, 10.0);
  CHECK(schedule.next(1.0)->cell == 0);
  CHECK_FALSE(schedule.next(11.0).has_value());
  CHECK(schedule.given_up() == std::vector<std::size_t>{1, 2});
}

TEST_CASE("no limit is no limit") {
  Schedule schedule(1, std::numeric_limits<double>::infinity());
  CHECK(schedule.next(1e9)->until == std::numeric_limits<double>::infinity());
}

TEST_CASE("the margin follows late ranks at once and forgets them slowly") {
  Margin margin;
  margin.learn(1e-3);
  CHECK(margin.seconds() == doctest::Approx(1.255e-3));
  margin.learn(1e-6);
  CHECK(margin.seconds() == doctest::Approx(0.97 * 1.255e-3));
  margin.learn(10.0);
  CHECK(margin.seconds() == doctest::Approx(0.1));
}
