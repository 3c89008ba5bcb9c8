#include <string>
#include <utility>
#include <vector>

#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

/// Sends `distance(round)` ranks ahead, from the last ones on to the first.
template <class Distance>
struct Ahead {
  static constexpr bool kShifts = true;

  Rank operator()(std::uint32_t round, Rank rank) const {
    // Of those from `ranks - distance` on the first ranks, without a sum that could wrap.
    const Rank by = distance(round), before = ranks - by;
    return rank < before ? rank + by : rank - before;
  }

  Rank ranks;
  Distance distance;
};

template <class Distance>
std::unique_ptr<Pattern> shifted(Rank ranks, std::uint32_t rounds, Distance distance) {
  return mapped(ranks, rounds, Ahead<Distance>{ranks, std::move(distance)});
}

void need_distance(Rank ranks, Rank distance) {
  if (distance == 0 || distance >= ranks) {
    throw Error("a shift between 1 and " + std::to_string(ranks - 1) + ", got " +
                std::to_string(distance));
  }
}

}  // namespace

std::unique_ptr<Pattern> make_shift(Rank ranks, Rank distance) {
  need_ranks(ranks, 2);
  need_distance(ranks, distance);
  return shifted(ranks, 1, [=](std::uint32_t) { return distance; });
}

std::unique_ptr<Pattern> make_shifts(Rank ranks, std::vector<Rank> distances) {
  need_ranks(ranks, 2);
  for (const Rank distance : distances) need_distance(ranks, distance);
  const auto rounds = static_cast<std::uint32_t>(distances.size());
  return shifted(ranks, rounds,
                 [each = std::move(distances)](std::uint32_t round) { return each[round]; });
}

std::unique_ptr<Pattern> make_all_shifts(Rank ranks) {
  need_ranks(ranks, 2);
  return shifted(ranks, ranks - 1, [](std::uint32_t round) { return round + 1; });
}

std::unique_ptr<Pattern> make_dissemination(Rank ranks) {
  need_ranks(ranks, 2);
  return shifted(ranks, log2_ceil(ranks), [](std::uint32_t round) { return Rank{1} << round; });
}

std::unique_ptr<Pattern> make_pipeline(Rank ranks) {
  need_ranks(ranks, 2);
  return mapped(ranks, 1, [=](std::uint32_t, Rank i) { return i + 1 < ranks ? i + 1 : i; });
}

std::unique_ptr<Pattern> make_tornado(Rank ranks) {
  need_ranks(ranks, 3);
  return make_shift(ranks, (ranks + 1) / 2 - 1);
}

}  // namespace contend
