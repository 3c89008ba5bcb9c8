#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

/// Rank i sends to rank i + distance(round), and the last to the first.
template <class Distance>
class Shifts final : public FixedPattern {
 public:
  Shifts(Rank ranks, std::uint32_t rounds, Distance distance)
      : FixedPattern(ranks), rounds_(rounds), distance_(std::move(distance)) {}

  std::uint32_t rounds() const override { return rounds_; }

  using FixedPattern::fill;
  void fill(std::uint32_t round, std::uint32_t, Messages& out) const override {
    out.weight.clear();
    out.resize(ranks());
    const auto wraps = static_cast<std::ptrdiff_t>(ranks() - distance_(round));
    std::iota(out.source.begin(), out.source.end(), Rank{0});
    std::iota(out.target.begin(), out.target.begin() + wraps, distance_(round));
    std::iota(out.target.begin() + wraps, out.target.end(), Rank{0});
  }

 private:
  std::uint32_t rounds_;
  Distance distance_;
};

template <class Distance>
std::unique_ptr<Pattern> shifts(Rank ranks, std::uint32_t rounds, Distance distance) {
  return std::make_unique<Shifts<Distance>>(ranks, rounds, std::move(distance));
}

}  // namespace

std::unique_ptr<Pattern> make_shift(Rank ranks, Rank distance) {
  need_ranks(ranks, 2);
  if (distance == 0 || distance >= ranks) {
    throw Error("a shift between 1 and " + std::to_string(ranks - 1) + ", got " +
                std::to_string(distance));
  }
  return shifts(ranks, 1, [=](std::uint32_t) { return distance; });
}

std::unique_ptr<Pattern> make_all_shifts(Rank ranks) {
  need_ranks(ranks, 2);
  return shifts(ranks, ranks - 1, [](std::uint32_t round) { return Rank{round + 1}; });
}

std::unique_ptr<Pattern> make_dissemination(Rank ranks) {
  need_ranks(ranks, 2);
  return shifts(ranks, log2_ceil(ranks), [](std::uint32_t round) { return Rank{1} << round; });
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
