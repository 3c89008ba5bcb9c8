#include <algorithm>
#include <numeric>

#include "contend/base/error.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "random_pattern.hpp"

namespace contend {

namespace {

/// A random pairing with a coin per pair is as likely as two random halves matched at random, and
/// takes one draw a message instead of two: of the ranks left, the last is paired with a random
/// other one.
class Bisect final : public RandomPattern<Bisect> {
 public:
  Bisect(Rank ranks, bool two_way) : RandomPattern(ranks), two_way_(two_way), identity_(ranks) {
    std::iota(identity_.begin(), identity_.end(), Rank{0});
  }

  bool symmetric() const override { return true; }
  bool paired() const override { return two_way_; }

  std::optional<std::uint64_t> outcomes() const override {
    std::optional<std::uint64_t> count = ranks() % 2 == 1 ? ranks() : 1;
    for (Rank left = ranks() - ranks() % 2; left >= 2; left -= 2) {
      count = times(count, left - 1);
      if (!two_way_) count = times(count, 2);
    }
    return count;
  }

  template <class Choices>
  void draw(Choices& choices, Messages& out) const {
    // Scratch that lives with the messages: targets hold the ranks that are left.
    const Rank pairs = ranks() / 2;
    thread_local std::vector<Rank> scratch;
    scratch.assign(identity_.begin(), identity_.end());
    Rank* left = scratch.data();
    Rank count = ranks();
    if (count % 2 == 1) {
      std::swap(left[choices.below(count)], left[count - 1]);
      --count;
    }
    out.weight.clear();
    out.resize(two_way_ ? 2 * std::size_t{pairs} : pairs);
    Rank* source = out.source.data();
    Rank* target = out.target.data();
    choices.below_falling(count - 1, 2, {target, pairs});
    std::uint32_t coins = 0;
    for (Rank pair = 0; pair < pairs; ++pair, count -= 2) {
      const Rank partner = target[pair];
      const Rank a = left[count - 1];
      const Rank b = left[partner];
      left[partner] = left[count - 2];
      if (two_way_) {
        source[pair] = target[pairs + pair] = a;
        target[pair] = source[pairs + pair] = b;
        continue;
      }
      if (pair % 32 == 0) coins = choices.coins(std::min(pairs - pair, Rank{32}));
      // The exclusive or swaps without a branch that could not be predicted.
      const Rank flip = (a ^ b) & (0U - (coins & 1U));
      coins >>= 1;
      source[pair] = a ^ flip;
      target[pair] = b ^ flip;
    }
  }

 private:
  bool two_way_;
  std::vector<Rank> identity_;
};

}  // namespace

std::unique_ptr<Pattern> make_bisect(Rank ranks, bool two_way) {
  if (ranks < 2) throw Error("at least 2 ranks, got " + std::to_string(ranks));
  return std::make_unique<Bisect>(ranks, two_way);
}

}  // namespace contend
