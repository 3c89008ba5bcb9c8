#include <algorithm>

#include "contend/pattern/fixed_patterns.hpp"
#include "mapped_pattern.hpp"

namespace contend {

namespace {

/// Keeps the messages of which that holds, by source and target, in their order.
template <class Holds>
void keep(Messages& out, const Holds& holds) {
  std::size_t kept = 0;
  for (std::size_t m = 0; m < out.size(); ++m) {
    if (!holds(out.source[m], out.target[m])) continue;
    out.source[kept] = out.source[m];
    out.target[kept] = out.target[m];
    if (!out.weight.empty()) out.weight[kept] = out.weight[m];
    ++kept;
  }
  out.resize(kept);
  if (!out.weight.empty()) out.weight.resize(kept);
}

class Rounds final : public FixedPattern {
 public:
  Rounds(Rank ranks, std::vector<std::uint64_t> begin, std::vector<Rank> source,
         std::vector<Rank> target, std::vector<std::uint64_t> weight)
      : FixedPattern(ranks),
        begin_(std::move(begin)),
        source_(std::move(source)),
        target_(std::move(target)),
        weight_(std::move(weight)),
        shares_ends_(find_shared_ends()) {}

  std::uint32_t rounds() const override { return static_cast<std::uint32_t>(begin_.size() - 1); }
  bool shares_ends() const override { return shares_ends_; }
  bool sends_to_itself() const override {
    // Not all of them differ.
    return !std::equal(source_.begin(), source_.end(), target_.begin(), std::not_equal_to<>());
  }

  bool weighted() const override { return !weight_.empty(); }
  std::uint64_t messages_expected() const override {
    return std::max<std::uint64_t>(source_.size(), FixedPattern::messages_expected());
  }

  using FixedPattern::fill;
  void fill(std::uint32_t round, std::uint32_t, Messages& out) const override {
    const auto first = static_cast<std::ptrdiff_t>(begin_[round]);
    const auto last = static_cast<std::ptrdiff_t>(begin_[round + 1]);
    out.source.assign(source_.begin() + first, source_.begin() + last);
    out.target.assign(target_.begin() + first, target_.begin() + last);
    out.weight.clear();
    if (!weight_.empty()) out.weight.assign(weight_.begin() + first, weight_.begin() + last);
  }

 private:
  bool find_shared_ends() const {
    std::vector<std::uint32_t> sent(ranks(), 0);
    std::vector<std::uint32_t> received(ranks(), 0);
    for (std::uint32_t round = 0; round < rounds(); ++round) {
      for (std::uint64_t m = begin_[round]; m < begin_[round + 1]; ++m) {
        // Marks carry the round, so that nothing has to be cleared between rounds.
        if (sent[source_[m]] == round + 1 || received[target_[m]] == round + 1) return true;
        sent[source_[m]] = received[target_[m]] = round + 1;
      }
    }
    return false;
  }

  std::vector<std::uint64_t> begin_;
  std::vector<Rank> source_;
  std::vector<Rank> target_;
  std::vector<std::uint64_t> weight_;
  bool shares_ends_;
};

class Parts final : public Pattern {
 public:
  Parts(std::shared_ptr<const Pattern> first, std::shared_ptr<const Pattern> second)
      : Pattern(first->ranks() + second->ranks()),
        first_(std::move(first)),
        second_(std::move(second)) {}

  std::uint32_t rounds() const override { return std::max(first_->rounds(), second_->rounds()); }
  std::uint32_t pieces(std::uint32_t round) const override {
    return first_->pieces(round % first_->rounds()) + second_->pieces(round % second_->rounds());
  }
  std::uint64_t messages_expected() const override {
    const auto of = [this](const Pattern& part) {
      return part.messages_expected() / part.rounds() * rounds();
    };
    return of(*first_) + of(*second_);
  }
  std::vector<Exchange> exchanges(std::uint32_t round) const override {
    std::vector<Exchange> all = first_->exchanges(round % first_->rounds());
    std::vector<Exchange> others = second_->exchanges(round % second_->rounds());
    if (all.empty() || others.empty()) return {};
    for (Exchange& exchange : others) {
      for (Rank& rank : exchange.rank) rank += first_->ranks();
      all.push_back(std::move(exchange));
    }
    return all;
  }
  bool random() const override { return first_->random() || second_->random(); }
  bool shares_ends() const override { return first_->shares_ends() || second_->shares_ends(); }
  bool sends_to_itself() const override {
    return first_->sends_to_itself() || second_->sends_to_itself();
  }
  bool paired() const override { return first_->paired() && second_->paired(); }
  std::optional<std::uint64_t> outcomes() const override {
    if (!random()) return 1;
    return std::nullopt;
  }

  void fill(std::uint32_t round, std::uint32_t piece, RandomChoices& choices,
            Messages& out) const override {
    fill_part(round, piece, choices, out);
  }
  void fill(std::uint32_t round, std::uint32_t piece, EnumeratedChoices& choices,
            Messages& out) const override {
    fill_part(round, piece, choices, out);
  }

 private:
  template <class Choices>
  void fill_part(std::uint32_t round, std::uint32_t piece, Choices& choices, Messages& out) const {
    const std::uint32_t of_first = first_->pieces(round % first_->rounds());
    if (piece < of_first) {
      first_->fill(round % first_->rounds(), piece, choices, out);
      return;
    }
    second_->fill(round % second_->rounds(), piece - of_first, choices, out);
    for (Rank& rank : out.source) rank += first_->ranks();
    for (Rank& rank : out.target) rank += first_->ranks();
  }

  std::shared_ptr<const Pattern> first_;
  std::shared_ptr<const Pattern> second_;
};

/// The messages of another pattern, altered.
class Altered : public Pattern {
 public:
  Altered(Rank ranks, std::shared_ptr<const Pattern> pattern)
      : Pattern(ranks), pattern_(std::move(pattern)) {}

  std::uint32_t rounds() const override { return pattern_->rounds(); }
  std::uint32_t pieces(std::uint32_t round) const override { return pattern_->pieces(round); }
  std::uint64_t messages_expected() const override { return pattern_->messages_expected(); }
  bool random() const override { return pattern_->random(); }
  bool shares_ends() const override { return pattern_->shares_ends(); }
  bool sends_to_itself() const override { return pattern_->sends_to_itself(); }
  bool paired() const override { return pattern_->paired(); }
  bool weighted() const override { return pattern_->weighted(); }
  std::optional<std::uint64_t> outcomes() const override { return pattern_->outcomes(); }
  std::vector<Exchange> exchanges(std::uint32_t round) const override {
    return pattern_->exchanges(round);
  }

  void fill(std::uint32_t round, std::uint32_t piece, RandomChoices& choices,
            Messages& out) const override {
    pattern_->fill(round, piece, choices, out);
    alter(out);
  }
  void fill(std::uint32_t round, std::uint32_t piece, EnumeratedChoices& choices,
            Messages& out) const override {
    pattern_->fill(round, piece, choices, out);
    alter(out);
  }

 private:
  virtual void alter(Messages& out) const = 0;

  std::shared_ptr<const Pattern> pattern_;
};

class Copies final : public Altered {
 public:
  Copies(Rank copies, std::shared_ptr<const Pattern> pattern)
      : Altered(copies * pattern->ranks(), pattern), copies_(copies) {}

  std::uint64_t messages_expected() const override {
    return copies_ * Altered::messages_expected();
  }
  std::vector<Exchange> exchanges(std::uint32_t round) const override {
    std::vector<Exchange> all;
    for (const Exchange& exchange : Altered::exchanges(round)) {
      for (Rank number = 0; number < copies_; ++number) {
        Exchange& copy = all.emplace_back(exchange);
        for (Rank& rank : copy.rank) rank = rank * copies_ + number;
      }
    }
    return all;
  }

 private:
  /// Spreads the messages of a copy to all, the last first, so that none is overwritten unread.
  void alter(Messages& out) const override {
    const std::size_t count = out.size();
    out.resize(copies_ * count);
    if (!out.weight.empty()) out.weight.resize(copies_ * count);
    for (std::size_t m = count; m-- > 0;) {
      const Rank source = out.source[m] * copies_;
      const Rank target = out.target[m] * copies_;
      for (Rank number = 0; number < copies_; ++number) {
        out.source[m * copies_ + number] = source + number;
        out.target[m * copies_ + number] = target + number;
      }
      if (out.weight.empty()) continue;
      const std::uint64_t weight = out.weight[m];
      std::fill_n(out.weight.begin() + static_cast<std::ptrdiff_t>(m * copies_), copies_, weight);
    }
  }

  Rank copies_;
};

class Rest final : public Altered {
 public:
  Rest(std::shared_ptr<const Pattern> pattern, std::vector<std::uint8_t> gone)
      : Altered(pattern->ranks(), pattern), gone_(std::move(gone)) {}

  std::vector<Exchange> exchanges(std::uint32_t round) const override {
    std::vector<Exchange> all = Altered::exchanges(round);
    for (Exchange& exchange : all) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < exchange.rank.size(); ++i) {
        if (gone_[exchange.rank[i]] != 0) continue;
        exchange.rank[kept] = exchange.rank[i];
        exchange.block[kept] = exchange.block[i];
        ++kept;
      }
      exchange.rank.resize(kept);
      exchange.block.resize(kept);
    }
    return all;
  }

 private:
  void alter(Messages& out) const override {
    keep(out, [&](Rank source, Rank target) { return gone_[source] == 0 && gone_[target] == 0; });
  }

  std::vector<std::uint8_t> gone_;
};

class WithoutPairs final : public Altered {
 public:
  WithoutPairs(std::shared_ptr<const Pattern> pattern, std::vector<std::uint32_t> row,
               std::vector<std::uint32_t> column, std::vector<std::uint8_t> cut,
               std::size_t columns)
      : Altered(pattern->ranks(), pattern),
        row_(std::move(row)),
        column_(std::move(column)),
        cut_(std::move(cut)),
        columns_(columns) {}

  /// None is left whole.
  std::vector<Exchange> exchanges(std::uint32_t) const override { return {}; }
  /// Of a pair one direction may be cut alone.
  bool paired() const override { return false; }

 private:
  void alter(Messages& out) const override {
    keep(out, [&](Rank source, Rank target) {
      return cut_[row_[target] * columns_ + column_[source]] == 0;
    });
  }

  std::vector<std::uint32_t> row_;
  std::vector<std::uint32_t> column_;
  std::vector<std::uint8_t> cut_;
  std::size_t columns_;
};

}  // namespace

std::unique_ptr<Pattern> make_rounds(Rank ranks, std::vector<std::uint64_t> round_begin,
                                     std::vector<Rank> source, std::vector<Rank> target,
                                     std::vector<std::uint64_t> weight) {
  const bool fits = round_begin.size() >= 2 && round_begin.front() == 0 &&
                    round_begin.back() == source.size() && source.size() == target.size() &&
                    (weight.empty() || weight.size() == source.size()) &&
                    std::is_sorted(round_begin.begin(), round_begin.end());
  if (!fits) throw Error("rounds whose arrays fit together, got arrays that do not");
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] >= ranks || target[m] >= ranks) {
      throw Error("ranks below " + std::to_string(ranks) + ", got message " +
                  std::to_string(source[m]) + " -> " + std::to_string(target[m]));
    }
  }
  return std::make_unique<Rounds>(ranks, std::move(round_begin), std::move(source),
                                  std::move(target), std::move(weight));
}

std::unique_ptr<Pattern> make_parts(std::shared_ptr<const Pattern> first,
                                    std::shared_ptr<const Pattern> second) {
  if (first->weighted() || second->weighted()) {
    throw Error("parts whose messages all count alike, got one with weights");
  }
  return std::make_unique<Parts>(std::move(first), std::move(second));
}

std::unique_ptr<Pattern> make_copies(Rank copies, std::shared_ptr<const Pattern> pattern) {
  return std::make_unique<Copies>(copies, std::move(pattern));
}

std::unique_ptr<Pattern> make_rest(std::shared_ptr<const Pattern> pattern,
                                   std::vector<std::uint8_t> gone) {
  if (gone.size() != pattern->ranks()) throw Error("for every rank whether it is gone");
  return std::make_unique<Rest>(std::move(pattern), std::move(gone));
}

std::unique_ptr<Pattern> make_without_pairs(std::shared_ptr<const Pattern> pattern,
                                            std::vector<std::uint32_t> row,
                                            std::vector<std::uint32_t> column,
                                            std::vector<std::uint8_t> cut, std::size_t columns) {
  const auto fits = [&](const std::vector<std::uint32_t>& of_rank, std::size_t most) {
    return of_rank.size() == pattern->ranks() &&
           std::ranges::all_of(of_rank, [&](std::uint32_t n) { return n < most; });
  };
  if (columns == 0 || !fits(column, columns) || !fits(row, cut.size() / columns)) {
    throw Error("a row and a column of the table for every rank");
  }
  return std::make_unique<WithoutPairs>(std::move(pattern), std::move(row), std::move(column),
                                        std::move(cut), columns);
}

}  // namespace contend
