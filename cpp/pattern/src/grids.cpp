#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

class Halo final : public FixedPattern {
 public:
  Halo(Rank ranks, std::span<const Rank> extents, bool periodic)
      : FixedPattern(ranks), extents_(extents.begin(), extents.end()), periodic_(periodic) {}

  bool shares_ends() const override { return true; }

  using FixedPattern::fill;
  void fill(std::uint32_t, std::uint32_t, Messages& out) const override {
    out.clear();
    Rank stride = 1;
    for (std::size_t d = extents_.size(); d-- > 0; stride *= extents_[d]) {
      const Rank extent = extents_[d];
      if (extent == 1) continue;
      for (Rank rank = 0; rank < ranks(); ++rank) {
        const Rank place = rank / stride % extent;
        const Rank first = rank - place * stride;
        if (place + 1 < extent || (periodic_ && extent > 2)) {
          out.add(rank, first + (place + 1) % extent * stride);
        }
        if (place > 0 || (periodic_ && extent > 2)) {
          out.add(rank, first + (place + extent - 1) % extent * stride);
        }
      }
    }
  }

 private:
  std::vector<Rank> extents_;
  bool periodic_;
};

}  // namespace

std::unique_ptr<Pattern> make_halo(Rank ranks, std::span<const Rank> extents, bool periodic) {
  need_ranks(ranks, 2);
  std::uint64_t product = extents.empty() ? 0 : 1;
  for (const Rank extent : extents) {
    product *= extent;
    if (product == 0 || product > ranks) break;
  }
  if (product != ranks) {
    throw Error("a grid whose extents multiply to " + std::to_string(ranks) +
                " ranks, got another product");
  }
  return std::make_unique<Halo>(ranks, extents, periodic);
}

std::unique_ptr<Pattern> make_transpose(Rank ranks) {
  need_ranks(ranks, 4);
  Rank side = 1;
  while (std::uint64_t{side + 1} * (side + 1) <= ranks) ++side;
  return mapped(ranks, 1, [=](std::uint32_t, Rank i) {
    return i < side * side ? i % side * side + i / side : i;
  });
}

std::unique_ptr<Pattern> make_bit_reversal(Rank ranks) {
  need_ranks(ranks, 4);
  const std::uint32_t bits = log2_ceil(power_of_two_within(ranks));
  return mapped(ranks, 1, [=](std::uint32_t, Rank i) {
    if (i >> bits != 0) return i;
    Rank reversed = 0;
    for (std::uint32_t bit = 0; bit < bits; ++bit) {
      reversed |= (i >> bit & 1U) << (bits - 1 - bit);
    }
    return reversed;
  });
}

std::unique_ptr<Pattern> make_bit_complement(Rank ranks) {
  need_ranks(ranks, 2);
  return mapped(ranks, 1, [=](std::uint32_t, Rank i) { return ranks - 1 - i; });
}

}  // namespace contend
