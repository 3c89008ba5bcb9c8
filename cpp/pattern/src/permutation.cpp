#include <numeric>

#include "contend/base/error.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "contend/pattern/shuffle.hpp"
#include "random_pattern.hpp"

namespace contend {

namespace {

class Permutation final : public RandomPattern<Permutation> {
 public:
  using RandomPattern::RandomPattern;

  bool symmetric() const override { return true; }

  std::optional<std::uint64_t> outcomes() const override {
    std::optional<std::uint64_t> count = 1;
    for (Rank left = ranks(); left > 1; --left) count = times(count, left);
    return count;
  }

  template <class Choices>
  void draw(Choices& choices, Messages& out) const {
    out.weight.clear();
    out.resize(ranks());
    std::iota(out.source.begin(), out.source.end(), Rank{0});
    out.target = out.source;
    shuffle(std::span<Rank>(out.target), choices);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ranks(); ++i) {
      if (out.target[i] == i) continue;
      out.source[kept] = static_cast<Rank>(i);
      out.target[kept++] = out.target[i];
    }
    out.resize(kept);
  }
};

}  // namespace

std::unique_ptr<Pattern> make_permutation(Rank ranks) {
  if (ranks < 2) throw Error("at least 2 ranks, got " + std::to_string(ranks));
  return std::make_unique<Permutation>(ranks);
}

}  // namespace contend
