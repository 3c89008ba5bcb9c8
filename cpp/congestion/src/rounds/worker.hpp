#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../drawing/round_drawer.hpp"
#include "contend/base/progress.hpp"
#include "contend/congestion/simulate.hpp"
#include "round_averages.hpp"
#include "round_counter.hpp"
#include "stopwatch.hpp"

namespace contend {

/// One thread's share of a batch.
template <class Id, class Load>
class Worker {
 public:
  Worker(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
         const Samples& samples, bool with_hosts, const ChannelRates* rates, bool paired)
      : pattern_(pattern),
        unit_(resolver.unit()),
        drawer_(pattern, seating, samples, with_hosts),
        counter_(resolver, with_hosts, RoundCounter<Id, Load>::kMostMessages,
                 pattern.messages_expected() / pattern.rounds()),
        weighs_(rates != nullptr),
        paired_(paired),
        channel_messages_(resolver.switch_channels() + 2 * resolver.places(), 0) {
    if (rates != nullptr) counter_.set_rates(*rates);
  }

  /// Runs one round; adds to `shares`, if any, what messages get by the rates.
  RoundAverages run(std::uint64_t sample, std::uint32_t round, RoundShares* shares) {
    begin(sample, round);
    const std::uint32_t pieces = pattern_.pieces(round);
    Progress passes(2);
    for (const std::uint32_t piece : InParts(pieces)) count(piece);
    passes.done();
    fold();
    if (pieces > 1) drawer_.begin(sample, round);
    for (const std::uint32_t piece : InParts(pieces)) {
      const RoundShares found = judge(piece, pieces > 1);
      if (shares != nullptr) shares->add(found);
    }
    return finish();
  }

  // The steps of run(), which several workers can share: each counts some pieces, one absorbs the
  // others and folds, these adopt() what it has, each judges some pieces, and one finishes with
  // what it has taken from the others.

  void begin(std::uint64_t sample, std::uint32_t round) {
    counter_.draw_routes(drawer_.routes_of(sample));
    drawer_.begin(sample, round);
  }

  void count(std::uint32_t piece) {
    messages_ = &drawer_.draw(piece);
    watch_.drew();
    counter_.count(messages_->source, messages_->target);
    watch_.counted();
  }

  void absorb(Worker& other) { counter_.absorb(other.counter_); }

  void fold() {
    // Totals are narrow so that folding is fast; they are emptied before they can overflow.
    if (!counter_.totals_have_room()) collect_totals();
    counter_.fold();
    begin_judging();
  }

  void adopt(const Worker& folded, std::uint64_t sample, std::uint32_t round) {
    begin(sample, round);
    counter_.adopt(folded.counter_);
    begin_judging();
  }

  /// What the messages of a piece get by the rates, where there are any; `again` when other pieces
  /// were counted since.
  RoundShares judge(std::uint32_t piece, bool again) {
    if (again) messages_ = &drawer_.draw(piece);
    const auto& [source, target, weight] = *messages_;
    counter_.judge(source, target, weight, again, by_value_);
    if (paired_) return judge_pairs();
    if (!weighs_) return {};
    return counter_.weigh(source, target, weight, [](auto...) {});
  }

  /// Takes over what another has judged.
  void take(Worker& other) {
    other.counter_.finish(other.by_value_);
    for (std::size_t n = 0; n < by_value_.size(); ++n) by_value_[n] += other.by_value_[n];
    for (std::size_t n = 0; n < by_pair_.size(); ++n) by_pair_[n] += other.by_pair_[n];
    stayed_elsewhere_ += other.drawer_.stayed();
    other.counter_.clear();
  }

  RoundAverages finish() {
    counter_.finish(by_value_);
    RoundAverages averages = average(by_value_, counter_.values(), unit_);
    averages.ports = counter_.most_on_ports();
    if (paired_) averages.pairs = average(by_pair_, counter_.values(), unit_).bandwidth;
    add_to_histogram();
    gap_ = std::max(gap_, counter_.gap());
    counter_.clear();
    watch_.counted();
    return averages;
  }

  void collect_totals() { counter_.collect_totals(channel_messages_); }

  void start_watch() { watch_.start(); }
  void stop_watch() { watch_.stop(); }

  void add_to(BatchResult& result) {
    collect_totals();
    if (result.histogram.size() < histogram_.size()) result.histogram.resize(histogram_.size(), 0);
    for (std::size_t pi = 0; pi < histogram_.size(); ++pi) result.histogram[pi] += histogram_[pi];
    for (std::size_t c = 0; c < channel_messages_.size(); ++c) {
      result.channel_messages[c] += channel_messages_[c];
    }
    result.gap = std::max(result.gap, gap_);
    watch_.add_to(result);
  }

 private:
  void begin_judging() {
    by_value_.assign(counter_.values().size(), 0);
    if (paired_) by_pair_.assign(by_value_.size(), 0);
  }

  /// The rest of judge() where the messages are those of pairs.
  RoundShares judge_pairs() {
    const auto& [source, target, weight] = *messages_;
    RoundShares shares;
    if (weighs_) {
      got_.resize(source.size());
      shares = counter_.weigh(source, target, weight,
                              [&](std::size_t m, double, double share, double bytes_per_second) {
                                got_[m] = {share, bytes_per_second};
                              });
    }
    counter_.judge_pairs(source, target, weight, by_pair_);
    if (weighs_) {
      counter_.weigh(target, source, weight,
                     [&](std::size_t m, double messages, double share, double bytes_per_second) {
                       shares.pair_share += messages * std::min(share, got_[m].share);
                       shares.pair_bytes_per_second +=
                           messages * std::min(bytes_per_second, got_[m].bytes_per_second);
                     });
    }
    return shares;
  }

  void add_to_histogram() {
    const std::span<const std::uint32_t> values = counter_.values();
    const std::size_t size = bin(values.back()) + 1;
    if (histogram_.size() < size) histogram_.resize(size, 0);
    for (std::size_t n = 1; n < values.size(); ++n) {
      if (by_value_[n] > 0) histogram_[bin(values[n])] += by_value_[n];
    }
    histogram_[0] += drawer_.stayed() + std::exchange(stayed_elsewhere_, 0);
  }

  /// The bin of a pi: what is nearest, where a message has more parts than there are bins for it.
  std::size_t bin(std::uint32_t value) const {
    if (unit_ == 1) return value;
    const std::uint64_t bins = bins_of_message(unit_);
    return (value * bins + unit_ / 2) / unit_;
  }

  const Pattern& pattern_;
  std::uint32_t unit_;
  RoundDrawer drawer_;
  RoundCounter<Id, Load> counter_;
  bool weighs_;
  bool paired_;
  const Messages* messages_ = nullptr;
  std::vector<std::uint64_t> by_value_;
  std::vector<std::uint64_t> by_pair_;  ///< likewise, by the slower direction of the pair
  struct Got {
    double share;
    double bytes_per_second;
  };
  std::vector<Got> got_;  ///< by the messages of a piece, one way
  std::uint64_t stayed_elsewhere_ = 0;
  double gap_ = 1;
  std::vector<std::uint64_t> histogram_;
  std::vector<std::uint64_t> channel_messages_;
  Stopwatch watch_;
};

}  // namespace contend
