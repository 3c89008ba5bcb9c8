// Independent random receivers: uniform, localised and hot-spot traffic.

#include <algorithm>

#include "contend/base/error.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "random_pattern.hpp"

namespace contend {

namespace {

void check(Rank ranks, std::uint32_t percent) {
  if (ranks < 2) throw Error("at least 2 ranks, got " + std::to_string(ranks));
  if (percent > 100) throw Error("a share of at most 100 %, got " + std::to_string(percent) + " %");
}

class Localised final : public RandomPattern<Localised> {
 public:
  Localised(Rank ranks, Rank width, std::uint32_t percent)
      : RandomPattern(ranks), width_(width), percent_(percent) {}

  bool shares_ends() const override { return true; }
  bool symmetric() const override { return percent_ == 0; }

  std::optional<std::uint64_t> outcomes() const override {
    if (percent_ > 0) return std::nullopt;
    std::optional<std::uint64_t> count = 1;
    for (Rank rank = 0; rank < ranks() && count; ++rank) count = times(count, ranks() - 1);
    return count;
  }

  template <class Choices>
  void draw(Choices& choices, Messages& out) const {
    out.clear();
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Rank first = rank - rank % width_;
      const Rank block = std::min(width_, ranks() - first);
      const bool local = percent_ > 0 && block > 1 && choices.below(100) < percent_;
      out.add(rank, local ? first + another(rank - first, block, choices)
                          : another(rank, ranks(), choices));
    }
  }

 private:
  Rank width_;
  std::uint32_t percent_;
};

class HotSpotTraffic final : public RandomPattern<HotSpotTraffic> {
 public:
  HotSpotTraffic(Rank ranks, Rank spots, std::uint32_t percent)
      : RandomPattern(ranks), spots_(spots), percent_(percent) {}

  bool shares_ends() const override { return true; }
  bool symmetric() const override { return true; }
  std::optional<std::uint64_t> outcomes() const override { return std::nullopt; }

  template <class Choices>
  void draw(Choices& choices, Messages& out) const {
    std::vector<Rank> hot;
    while (hot.size() < spots_) {
      const Rank drawn = choices.below(ranks());
      if (std::find(hot.begin(), hot.end(), drawn) == hot.end()) hot.push_back(drawn);
    }
    out.clear();
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const bool to_hot = choices.below(100) < percent_;
      const Rank spot = hot[choices.below(spots_)];
      // A hot rank that would send to itself sends anywhere else instead.
      out.add(rank, to_hot && spot != rank ? spot : another(rank, ranks(), choices));
    }
  }

 private:
  Rank spots_;
  std::uint32_t percent_;
};

}  // namespace

std::unique_ptr<Pattern> make_uniform(Rank ranks) {
  check(ranks, 0);
  return std::make_unique<Localised>(ranks, 1, 0);
}

std::unique_ptr<Pattern> make_localised(Rank ranks, Rank width, std::uint32_t percent) {
  check(ranks, percent);
  if (width < 2) throw Error("a block of at least 2 ranks, got " + std::to_string(width));
  return std::make_unique<Localised>(ranks, width, percent);
}

std::unique_ptr<Pattern> make_hot_spot_traffic(Rank ranks, Rank spots, std::uint32_t percent) {
  check(ranks, percent);
  if (spots < 1 || spots > ranks / 2) {
    throw Error("between 1 and half of the ranks as hot spots, got " + std::to_string(spots));
  }
  return std::make_unique<HotSpotTraffic>(ranks, spots, percent);
}

}  // namespace contend
