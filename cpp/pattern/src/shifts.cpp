#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

Rank ahead(Rank rank, Rank distance, Rank ranks) {
  // Of those from `ranks - distance` on the first ranks, without a sum that could wrap.
  const Rank before = ranks - distance;
  return rank < before ? rank + distance : rank - before;
}

}  // namespace

std::unique_ptr<Pattern> make_shift(Rank ranks, Rank distance) {
  need_ranks(ranks, 2);
  if (distance == 0 || distance >= ranks) {
    throw Error("a shift between 1 and " + std::to_string(ranks - 1) + ", got " +
                std::to_string(distance));
  }
  return mapped(ranks, 1, [=](std::uint32_t, Rank i) { return ahead(i, distance, ranks); });
}

std::unique_ptr<Pattern> make_all_shifts(Rank ranks) {
  need_ranks(ranks, 2);
  return mapped(ranks, ranks - 1,
                [=](std::uint32_t round, Rank i) { return ahead(i, round + 1, ranks); });
}

std::unique_ptr<Pattern> make_dissemination(Rank ranks) {
  need_ranks(ranks, 2);
  return mapped(ranks, log2_ceil(ranks),
                [=](std::uint32_t round, Rank i) { return ahead(i, Rank{1} << round, ranks); });
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
