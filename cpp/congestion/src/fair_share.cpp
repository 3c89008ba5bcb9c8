#include "contend/congestion/fair_share.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contend/base/error.hpp"
#include "crossings.hpp"
#include "water_filling.hpp"

namespace contend {

namespace {

/// What rounding may leave of a message that has ended, as a part of its size.
constexpr double kNothing = 1e-11;

/// Time until the next message ends.
double time_left(const WaterFilling& water, const std::vector<double>& rest) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t m : water.under_way()) {
    least = std::min(least, rest[m] / water.shares()[m]);
  }
  return least;
}

std::vector<double> checked_sizes(std::span<const double> size, std::size_t messages) {
  if (size.empty()) return std::vector<double>(messages, 1);
  if (size.size() != messages) throw Error("as many sizes as messages");
  for (const double one : size) {
    if (!(one > 0) || !std::isfinite(one)) throw Error("sizes above 0");
  }
  return {size.begin(), size.end()};
}

}  // namespace

std::vector<double> fair_share(const Resolver& resolver, std::span<const Place> source,
                               std::span<const Place> target) {
  const Crossings crossings(resolver, source, target);
  WaterFilling water(crossings);
  water.fill();
  return water.shares();
}

std::vector<double> fluid_times(const Resolver& resolver, std::span<const Place> source,
                                std::span<const Place> target, std::span<const double> size) {
  const Crossings crossings(resolver, source, target);
  WaterFilling water(crossings);
  const std::vector<double> sizes = checked_sizes(size, crossings.messages());
  std::vector<double> rest = sizes;
  std::vector<double> times = sizes;
  double now = 0;
  while (!water.under_way().empty()) {
    water.fill();
    const double step = time_left(water, rest);
    now += step;
    for (const std::uint32_t m : water.under_way()) {
      rest[m] -= step * water.shares()[m];
      times[m] = now;
    }
    water.keep([&](std::uint32_t m) { return rest[m] > kNothing * sizes[m]; });
  }
  return times;
}

}  // namespace contend
