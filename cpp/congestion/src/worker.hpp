#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contend/congestion/simulate.hpp"
#include "contend/pattern/shuffle.hpp"
#include "outcomes.hpp"
#include "round_averages.hpp"
#include "round_counter.hpp"
#include "stopwatch.hpp"

namespace contend {

constexpr std::uint32_t kPlacementDraws = 0;
constexpr std::uint32_t kFirstRoundDraws = 1;

inline bool is_identity(std::span<const Place> slots) {
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] != slot) return false;
  }
  return true;
}

/// One thread's share of a batch.
template <class Id>
class Worker {
 public:
  Worker(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
         const Samples& samples, bool with_hosts, const ChannelRates* rates)
      : pattern_(pattern),
        seating_(seating),
        samples_(samples),
        counter_(resolver, with_hosts),
        order_(seating.slots),
        placement_outcomes_(seating.random ? factorial(seating.slots.size()) : 1),
        move_(seating.random || seating.ranks_per_slot > 1 || !is_identity(seating.slots)),
        // Ranks that share a host may send to each other, and given rounds to themselves.
        may_stay_(with_hosts || pattern.sends_to_itself()),
        channel_messages_(resolver.switch_channels() + 2 * resolver.places(), 0) {
    if (rates != nullptr) counter_.set_rates(*rates);
  }

  /// Runs one round; adds to `shares`, if any, what messages get by the rates.
  RoundAverages run(std::uint64_t sample, std::uint32_t round, RoundShares* shares) {
    counter_.draw_routes(routes_draw(samples_.seed, sample));
    seat(sample);
    PieceState state = begin(sample, round);
    const std::uint32_t pieces = pattern_.pieces(round);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      draw(state, round, piece);
      watch_.drew();
      counter_.count(messages_.source, messages_.target);
      counted_since_ += messages_.size();
      watch_.counted();
    }
    by_pi_.assign(counter_.fold() + std::size_t{2}, 0);
    if (pieces > 1) {
      stayed_ = 0;
      state = begin(sample, round);
    }
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      if (pieces > 1) draw(state, round, piece);
      counter_.judge(messages_.source, messages_.target, messages_.weight, pieces > 1, by_pi_);
      if (shares != nullptr) {
        counter_.weigh(messages_.source, messages_.target, messages_.weight, *shares);
      }
    }
    counter_.clear();
    const RoundAverages averages = average(by_pi_);
    add_to_histogram();
    // Totals are narrow so that folding is fast; they are emptied before they can overflow.
    if (counted_since_ > 0x4000'0000) collect_totals();
    watch_.counted();
    return averages;
  }

  void collect_totals() {
    counter_.collect_totals(channel_messages_);
    counted_since_ = 0;
  }

  void start_watch() { watch_.start(); }
  void stop_watch() { watch_.stop(); }

  void add_to(BatchResult& result) {
    collect_totals();
    if (result.histogram.size() < histogram_.size()) result.histogram.resize(histogram_.size(), 0);
    for (std::size_t pi = 0; pi < histogram_.size(); ++pi) result.histogram[pi] += histogram_[pi];
    for (std::size_t c = 0; c < channel_messages_.size(); ++c) {
      result.channel_messages[c] += channel_messages_[c];
    }
    watch_.add_to(result);
  }

 private:
  struct PieceState {
    RandomChoices random;
    EnumeratedChoices enumerated;
  };

  PieceState begin(std::uint64_t sample, std::uint32_t round) const {
    return {RandomChoices({samples_.seed, sample, kFirstRoundDraws + round}),
            EnumeratedChoices(samples_.enumerate ? sample / *placement_outcomes_ : 0)};
  }

  /// Draws the placement of a sample, once for all its rounds that this thread runs.
  void seat(std::uint64_t sample) {
    if (!seating_.random || (seated_ && *seated_ == sample)) return;
    order_ = seating_.slots;
    if (samples_.enumerate) {
      EnumeratedChoices choices(sample % *placement_outcomes_);
      shuffle(std::span<std::uint32_t>(order_), choices);
    } else {
      shuffle_slots(order_, samples_.seed, sample);
    }
    seated_ = sample;
  }

  /// Draws a piece and turns its ranks into places; messages that stay on their host are set aside.
  void draw(PieceState& state, std::uint32_t round, std::uint32_t piece) {
    if (samples_.enumerate) {
      pattern_.fill(round, piece, state.enumerated, messages_);
    } else {
      pattern_.fill(round, piece, state.random, messages_);
    }
    if (move_) {
      for (Rank& rank : messages_.source) rank = order_[rank / seating_.ranks_per_slot];
      for (Rank& rank : messages_.target) rank = order_[rank / seating_.ranks_per_slot];
    }
    if (may_stay_) set_local_messages_aside();
  }

  void set_local_messages_aside() {
    std::size_t kept = 0;
    const bool weighted = !messages_.weight.empty();
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      if (messages_.source[m] == messages_.target[m]) {
        stayed_ += weighted ? messages_.weight[m] : 1;
        continue;
      }
      messages_.source[kept] = messages_.source[m];
      messages_.target[kept] = messages_.target[m];
      if (weighted) messages_.weight[kept] = messages_.weight[m];
      ++kept;
    }
    messages_.resize(kept);
    if (weighted) messages_.weight.resize(kept);
  }

  void add_to_histogram() {
    if (histogram_.size() < by_pi_.size()) histogram_.resize(by_pi_.size(), 0);
    for (std::size_t pi = 1; pi < by_pi_.size(); ++pi) histogram_[pi] += by_pi_[pi];
    histogram_[0] += stayed_;
    stayed_ = 0;
  }

  const Pattern& pattern_;
  const Seating& seating_;
  Samples samples_;
  RoundCounter<Id> counter_;
  std::vector<Place> order_;
  std::optional<std::uint64_t> placement_outcomes_;
  bool move_;
  bool may_stay_;
  std::optional<std::uint64_t> seated_;
  Messages messages_;
  std::uint64_t stayed_ = 0;
  std::vector<std::uint64_t> by_pi_;
  std::vector<std::uint64_t> histogram_;
  std::vector<std::uint64_t> channel_messages_;
  std::uint64_t counted_since_ = 0;
  Stopwatch watch_;
};

}  // namespace contend
