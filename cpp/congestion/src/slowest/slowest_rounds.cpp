#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "../drawing/round_drawer.hpp"
#include "../rounds/channel_rates.hpp"
#include "../rounds/round_counter.hpp"
#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/congestion/simulate.hpp"
#include "translation.hpp"

namespace contend {

namespace {

/// One thread's share of the rounds.
template <class Id>
class SlowestMessages {
 public:
  SlowestMessages(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                  bool with_hosts, const ChannelRates* rates)
      : pattern_(pattern),
        drawer_(pattern, seating, {}, with_hosts),
        counter_(resolver, with_hosts),
        rates_(rates) {
    if (rates != nullptr) counter_.set_rates(*rates);
  }

  void run(std::uint32_t round, SlowestRounds& found) {
    drawer_.begin(0, round);
    bool any = false;
    double alone = 0;
    for (const std::uint32_t piece : InParts(pattern_.pieces(round))) {
      const Messages& messages = drawer_.draw(piece);
      count(messages.source, messages.target);
      any = any || messages.size() > 0;
      if (rates_ != nullptr) alone = std::max(alone, slowest_port(messages));
    }
    // A message that crosses no channel between switches still has its host's, all to itself.
    if (any) found.congestion[round] = std::max(counter_.largest(), 1U);
    if (any && rates_ != nullptr) {
      const double slowest = std::max(alone, counter_.most_seconds());
      found.time[round] =
          static_cast<std::uint64_t>(std::llround(slowest * rates_->fastest_port() / kMeanUnit));
    }
    counter_.clear();
  }

 private:
  /// In parts whose routes stay in the cache until they are counted: nobody looks at them again.
  void count(std::span<const Place> source, std::span<const Place> target) {
    constexpr std::size_t kTogether = 2048;
    for (std::size_t first = 0; first < source.size(); first += kTogether) {
      const std::size_t size = std::min(kTogether, source.size() - first);
      counter_.count(source.subspan(first, size), target.subspan(first, size));
    }
  }

  double slowest_port(const Messages& messages) const {
    double seconds = 0;
    for (std::size_t m = 0; m < messages.size(); ++m) {
      seconds = std::max(seconds, rates_->alone(messages.source[m], messages.target[m]));
    }
    return seconds;
  }

  const Pattern& pattern_;
  RoundDrawer drawer_;
  RoundCounter<Id, std::uint32_t> counter_;
  const ChannelRates* rates_;
};

template <class Id>
void run(const Resolver& resolver, const Pattern& pattern, const Seating& seating, int threads,
         const ChannelRates* rates, SlowestRounds& found) {
  const bool with_hosts = pattern.shares_ends() || shares_places(seating);
  std::deque<SlowestMessages<Id>> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(resolver, pattern, seating, with_hosts, rates);
  }
  const std::size_t rounds = pattern.rounds();
  in_parallel(threads, rounds, run_length(rounds, threads), [&](const Pieces& mine) {
    for (const std::size_t round : mine) {
      workers[mine.thread()].run(static_cast<std::uint32_t>(round), found);
    }
  });
}

/// Where rounds are the same for ranks that a translation takes to each other.
std::optional<Translation> translation_of(const Resolver& resolver, const Pattern& pattern,
                                          const Seating& seating, int threads,
                                          const ChannelRates* rates) {
  if (shares_places(seating) || !pattern.of_first(1)) return std::nullopt;
  // The look for one should be cheap beside the rounds.
  constexpr std::uint64_t kMessagesOfALook = 4;
  const std::uint64_t most_looks = pattern.messages_expected() / kMessagesOfALook;
  const std::span places = std::span(seating.slots).first(pattern.ranks());
  return find_translation(resolver, places, rates, most_looks, threads);
}

}  // namespace

SlowestRounds slowest_rounds(const Resolver& resolver, const Pattern& pattern,
                             const Seating& seating, int threads, std::span<const double> rate) {
  check_samples(resolver, pattern, seating, {});
  if (resolver.splits() || resolver.unit() > 1 || pattern.random() || seating.random) {
    throw Error("messages that do not split, and rounds that are not drawn");
  }
  std::optional<ChannelRates> rates;
  if (!rate.empty()) rates.emplace(resolver, rate);
  SlowestRounds found;
  found.congestion.resize(pattern.rounds(), 0);
  found.time.resize(rates ? pattern.rounds() : 0, 0);
  const int used = thread_count(threads);
  const ChannelRates* const each_rate = rates ? &*rates : nullptr;
  const auto run_rounds = resolver.narrow() ? run<std::uint16_t> : run<std::uint32_t>;
  if (const auto moved = translation_of(resolver, pattern, seating, used, each_rate)) {
    const TranslatedResolver first(resolver, *moved);
    const auto of_first = pattern.of_first(static_cast<Rank>(moved->period));
    run_rounds(first, *of_first, seating, used, each_rate, found);
  } else {
    run_rounds(resolver, pattern, seating, used, each_rate, found);
  }
  // Where all messages stay on their hosts, every round is free of congestion.
  const auto silent = [](std::uint64_t congestion) { return congestion == 0; };
  if (std::ranges::all_of(found.congestion, silent)) {
    std::ranges::fill(found.congestion, 1U);
    std::ranges::fill(found.time, static_cast<std::uint64_t>(std::llround(1 / kMeanUnit)));
  }
  return found;
}

}  // namespace contend
