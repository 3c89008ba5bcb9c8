#include <algorithm>

#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

/// Messages between ranks [0, few) and the others, which are served in turn.
class Star final : public FixedPattern {
 public:
  Star(Rank ranks, Rank few, bool inward) : FixedPattern(ranks), few_(few), inward_(inward) {}

  bool shares_ends() const override { return true; }

  using FixedPattern::fill;
  void fill(std::uint32_t, std::uint32_t, Messages& out) const override {
    out.clear();
    for (Rank rank = few_; rank < ranks(); ++rank) {
      const Rank hub = (rank - few_) % few_;
      if (inward_) {
        out.add(rank, hub);
      } else {
        out.add(hub, rank);
      }
    }
  }

 private:
  Rank few_;
  bool inward_;
};

class AllToAll final : public FixedPattern {
 public:
  AllToAll(Rank ranks, Rank block) : FixedPattern(ranks), block_(block) {}

  bool shares_ends() const override { return true; }
  bool symmetric() const override { return block_ == 1; }
  std::uint32_t pieces(std::uint32_t) const override { return ranks(); }
  std::uint64_t messages_expected() const override {
    return std::uint64_t{ranks()} * (ranks() - block_ + 1);
  }
  std::vector<Exchange> exchanges(std::uint32_t) const override {
    Exchange all;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      all.rank.push_back(rank);
      all.block.push_back(rank / block_);
    }
    return {all};
  }

  using FixedPattern::fill;
  void fill(std::uint32_t, std::uint32_t piece, Messages& out) const override {
    out.weight.clear();
    out.resize(ranks() - block_);
    std::fill(out.source.begin(), out.source.end(), piece);
    const Rank first = piece / block_ * block_;
    for (Rank i = 0; i < ranks() - block_; ++i) out.target[i] = i < first ? i : i + block_;
  }

 private:
  Rank block_;
};

class AllToAllWithin final : public FixedPattern {
 public:
  AllToAllWithin(Rank ranks, Rank block) : FixedPattern(ranks), block_(block) {}

  bool shares_ends() const override { return true; }
  bool symmetric() const override { return block_ == ranks(); }
  std::uint32_t pieces(std::uint32_t) const override { return ranks(); }
  std::uint64_t messages_expected() const override { return std::uint64_t{ranks()} * (block_ - 1); }
  std::vector<Exchange> exchanges(std::uint32_t) const override {
    std::vector<Exchange> all(ranks() / block_);
    for (Rank rank = 0; rank < ranks(); ++rank) {
      all[rank / block_].rank.push_back(rank);
      all[rank / block_].block.push_back(rank % block_);
    }
    return all;
  }

  using FixedPattern::fill;
  void fill(std::uint32_t, std::uint32_t piece, Messages& out) const override {
    out.clear();
    const Rank first = piece / block_ * block_;
    for (Rank target = first; target < first + block_; ++target) {
      if (target != piece) out.add(piece, target);
    }
  }

 private:
  Rank block_;
};

class Neighbour final : public FixedPattern {
 public:
  Neighbour(Rank ranks, Rank neighbours) : FixedPattern(ranks), neighbours_(neighbours) {}

  bool shares_ends() const override { return true; }
  std::uint64_t messages_expected() const override {
    return std::uint64_t{ranks()} * std::max<Rank>(neighbours_, 1);
  }

  using FixedPattern::fill;
  void fill(std::uint32_t, std::uint32_t, Messages& out) const override {
    out.clear();
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (Rank k = 0; k < neighbours_; ++k) {
        const Rank distance = k / 2 + 1;
        const std::uint64_t from =
            std::uint64_t{rank} + (k % 2 == 0 ? distance : ranks() - distance);
        out.add(rank, static_cast<Rank>(from % ranks()));
      }
    }
  }

 private:
  Rank neighbours_;
};

void need_blocks(Rank ranks, Rank block, bool possible) {
  if (possible && ranks % block == 0) return;
  throw Error("blocks that divide " + std::to_string(ranks) + " ranks, got blocks of " +
              std::to_string(block));
}

}  // namespace

std::unique_ptr<Pattern> make_scatter(Rank ranks) {
  need_ranks(ranks, 2);
  return std::make_unique<Star>(ranks, 1, false);
}

std::unique_ptr<Pattern> make_gather(Rank ranks) {
  need_ranks(ranks, 2);
  return std::make_unique<Star>(ranks, 1, true);
}

std::unique_ptr<Pattern> make_hot_spot(Rank ranks, Rank receivers) {
  need_ranks(ranks, 2);
  if (receivers < 1 || receivers >= ranks) {
    throw Error("between 1 and " + std::to_string(ranks - 1) + " receivers, got " +
                std::to_string(receivers));
  }
  return std::make_unique<Star>(ranks, receivers, true);
}

std::unique_ptr<Pattern> make_all_to_all(Rank ranks, Rank block) {
  need_ranks(ranks, 2);
  need_blocks(ranks, block, block >= 1 && block < ranks);
  return std::make_unique<AllToAll>(ranks, block);
}

std::unique_ptr<Pattern> make_all_to_all_within(Rank ranks, Rank block) {
  need_ranks(ranks, 2);
  need_blocks(ranks, block, block >= 2 && block <= ranks);
  return std::make_unique<AllToAllWithin>(ranks, block);
}

std::unique_ptr<Pattern> make_neighbour(Rank ranks, Rank neighbours) {
  need_ranks(ranks, 2);
  if (neighbours < 1 || neighbours >= ranks) {
    throw Error("between 1 and " + std::to_string(ranks - 1) + " neighbours, got " +
                std::to_string(neighbours));
  }
  return std::make_unique<Neighbour>(ranks, neighbours);
}

}  // namespace contend
