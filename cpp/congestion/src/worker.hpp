#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/simulate.hpp"
#include "round_averages.hpp"
#include "round_counter.hpp"
#include "round_drawer.hpp"
#include "stopwatch.hpp"

namespace contend {

/// One thread's share of a batch.
template <class Id>
class Worker {
 public:
  Worker(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
         const Samples& samples, bool with_hosts, const ChannelRates* rates)
      : pattern_(pattern),
        drawer_(pattern, seating, samples, with_hosts),
        counter_(resolver, with_hosts),
        channel_messages_(resolver.switch_channels() + 2 * resolver.places(), 0) {
    if (rates != nullptr) counter_.set_rates(*rates);
  }

  /// Runs one round; adds to `shares`, if any, what messages get by the rates.
  RoundAverages run(std::uint64_t sample, std::uint32_t round, RoundShares* shares) {
    counter_.draw_routes(drawer_.routes_of(sample));
    drawer_.begin(sample, round);
    const std::uint32_t pieces = pattern_.pieces(round);
    const Messages* messages = nullptr;
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      messages = &drawer_.draw(piece);
      watch_.drew();
      counter_.count(messages->source, messages->target);
      counted_since_ += messages->size();
      watch_.counted();
    }
    by_pi_.assign(counter_.fold() + std::size_t{2}, 0);
    if (pieces > 1) drawer_.begin(sample, round);
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      if (pieces > 1) messages = &drawer_.draw(piece);
      counter_.judge(messages->source, messages->target, messages->weight, pieces > 1, by_pi_);
      if (shares != nullptr) {
        counter_.weigh(messages->source, messages->target, messages->weight, *shares);
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
  void add_to_histogram() {
    if (histogram_.size() < by_pi_.size()) histogram_.resize(by_pi_.size(), 0);
    for (std::size_t pi = 1; pi < by_pi_.size(); ++pi) histogram_[pi] += by_pi_[pi];
    histogram_[0] += drawer_.stayed();
  }

  const Pattern& pattern_;
  RoundDrawer drawer_;
  RoundCounter<Id> counter_;
  std::vector<std::uint64_t> by_pi_;
  std::vector<std::uint64_t> histogram_;
  std::vector<std::uint64_t> channel_messages_;
  std::uint64_t counted_since_ = 0;
  Stopwatch watch_;
};

}  // namespace contend
