#include <doctest/doctest.h>

#include <cmath>

#include "timing/clock.hpp"
#include "common/random.hpp"

using namespace contend::probe;

namespace {

// A local clock that shows t when the global one shows 7 + 1.00005 t, read with noise.
double global_at(double local) { return 7.0 + 1.00005 * local; }

}  // namespace

TEST_CASE("the first measurement is an offset") {
  ClockModel model;
  CHECK(model.measure(2.0, 9.0, 1e-6) == 0.0);
  CHECK(model.global(3.0) == doctest::Approx(10.0));
  CHECK(model.drift() == 0.0);
}

TEST_CASE("two sure measurements give the line through them") {
  ClockModel model;
  model.measure(0.0, global_at(0.0), 1e-9);
  // Without a drift the model is wrong by 50 us after 1 s.
  CHECK(model.measure(1.0, global_at(1.0), 1e-9) == doctest::Approx(50e-6));
  CHECK(model.drift() == doctest::Approx(50e-6).epsilon(1e-3));
  CHECK(std::abs(model.global(3.0) - global_at(3.0)) < 1e-7);
}

TEST_CASE("unsure measurements are averaged: errors stay below those of one") {
  ClockModel model;
  Random random(1);
  const double noise = 10e-6;
  double residual = 0.0;
  for (int second = 0; second < 60; ++second) {
    const double error = noise * (2.0 * static_cast<double>(random.below(1000)) / 999.0 - 1.0);
    const double local = second;
    residual = model.measure(local, global_at(local) + error, noise);
  }
  CHECK(std::abs(residual) < 2.0 * noise);
  CHECK(model.drift() == doctest::Approx(50e-6).epsilon(0.05));
  CHECK(std::abs(model.global(60.5) - global_at(60.5)) < noise);
}

TEST_CASE("a better measurement outweighs worse ones") {
  ClockModel model;
  model.measure(0.0, 1e-3, 1e-3);
  model.measure(1.0, 1.0, 1e-6);
  CHECK(std::abs(model.global(1.0) - 1.0) < 1e-8);
}

TEST_CASE("local and global time are each other's inverse") {
  ClockModel model;
  model.measure(0.0, global_at(0.0), 1e-9);
  model.measure(10.0, global_at(10.0), 1e-9);
  CHECK(model.local(model.global(123.456)) == doctest::Approx(123.456).epsilon(1e-12));
}
