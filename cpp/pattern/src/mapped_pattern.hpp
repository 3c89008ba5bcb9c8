#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/pattern/pattern.hpp"

namespace contend {

/// A fixed pattern in which every rank, or only the first `senders`, sends at most one message a
/// round: `target(round, rank)` says to whom; the rank itself means that it is silent. Targets that
/// say kShifts are at the same distance from all ranks of a round.
template <class Target>
class MappedPattern final : public FixedPattern {
 public:
  MappedPattern(Rank ranks, std::uint32_t rounds, Target target)
      : MappedPattern(ranks, rounds, std::move(target), ranks) {}
  MappedPattern(Rank ranks, std::uint32_t rounds, Target target, Rank senders)
      : FixedPattern(ranks), rounds_(rounds), senders_(senders), target_(std::move(target)) {}

  std::uint32_t rounds() const override { return rounds_; }
  std::uint64_t messages_expected() const override { return std::uint64_t{senders_} * rounds_; }

  std::unique_ptr<Pattern> of_first(Rank senders) const override {
    if constexpr (requires { Target::kShifts; }) {
      return std::make_unique<MappedPattern>(ranks(), rounds_, target_, senders);
    } else {
      return nullptr;
    }
  }

  using FixedPattern::fill;
  void fill(std::uint32_t round, std::uint32_t, Messages& out) const override {
    out.weight.clear();
    out.resize(senders_);
    // Without a branch for those that are silent, who are few or none.
    std::iota(out.source.begin(), out.source.end(), Rank{0});
    Rank* const target = out.target.data();
    Rank silent = 0;
    for (Rank rank = 0, end = senders_; rank < end; ++rank) {
      target[rank] = target_(round, rank);
      silent |= target[rank] == rank ? 1U : 0U;
    }
    if (silent == 0) return;
    std::size_t count = 0;
    for (Rank rank = 0; rank < senders_; ++rank) {
      if (out.target[rank] == rank) continue;
      out.source[count] = rank;
      out.target[count++] = out.target[rank];
    }
    out.resize(count);
  }

 private:
  std::uint32_t rounds_;
  Rank senders_;
  Target target_;
};

template <class Target>
std::unique_ptr<Pattern> mapped(Rank ranks, std::uint32_t rounds, Target target) {
  return std::make_unique<MappedPattern<Target>>(ranks, rounds, std::move(target));
}

inline void need_ranks(Rank ranks, Rank least) {
  if (ranks < least) {
    throw Error("at least " + std::to_string(least) + " ranks, got " + std::to_string(ranks));
  }
}

/// Smallest r with 2^r >= n.
inline std::uint32_t log2_ceil(Rank n) {
  std::uint32_t r = 0;
  while ((std::uint64_t{1} << r) < n) ++r;
  return r;
}

/// Largest power of two that is at most n, n >= 1.
inline Rank power_of_two_within(Rank n) {
  const std::uint32_t r = log2_ceil(n);
  return (std::uint64_t{1} << r) == n ? n : Rank{1} << (r - 1);
}

}  // namespace contend
