#include "contend/congestion/simulate.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <exception>
#include <string>

#include "contend/base/error.hpp"
#include "contend/pattern/shuffle.hpp"
#include "round_counter.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kPlacementDraws = 0;
constexpr std::uint32_t kFirstRoundDraws = 1;

std::optional<std::uint64_t> factorial(std::size_t n) {
  std::uint64_t product = 1;
  for (std::uint64_t k = 2; k <= n; ++k) {
    if (product >= (std::uint64_t{1} << 63) / k) return std::nullopt;
    product *= k;
  }
  return product;
}

/// What one (sample, round) comes to.
struct RoundAverages {
  double bandwidth = 0;
  double mean = 0;
  double max = 0;
  bool any = false;
};

RoundAverages average(std::span<const std::uint64_t> by_pi) {
  double weight = 0;
  double inverse = 0;
  double sum = 0;
  std::size_t largest = 0;
  for (std::size_t pi = 1; pi < by_pi.size(); ++pi) {
    if (by_pi[pi] == 0) continue;
    const auto messages = static_cast<double>(by_pi[pi]);
    const auto congestion = static_cast<double>(pi);
    weight += messages;
    inverse += messages / congestion;
    sum += messages * congestion;
    largest = pi;
  }
  if (largest == 0) return {};
  return {inverse / weight, sum / weight, static_cast<double>(largest), true};
}

bool is_identity(std::span<const Place> slots) {
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] != slot) return false;
  }
  return true;
}

/// Whether two ranks may sit on one place.
bool shares_places(const Seating& seating) {
  if (seating.ranks_per_slot > 1) return true;
  std::vector<Place> sorted(seating.slots);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

/// Processor seconds of this thread. Asking takes a system call, so it is done once per batch.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Splits the processor time of a batch between drawing and counting, by the wall clock.
class Stopwatch {
 public:
  void start() {
    began_ = processor_seconds();
    last_ = std::chrono::steady_clock::now();
  }
  void drew() { drawing_ += lap(); }
  void counted() { counting_ += lap(); }

  /// Called by the thread that called start().
  void stop() { used_ += processor_seconds() - began_; }

  void add_to(BatchResult& result) const {
    const double share = drawing_ / std::max(drawing_ + counting_, 1e-12);
    result.drawing_seconds += used_ * share;
    result.counting_seconds += used_ * (1 - share);
  }

 private:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    return passed.count();
  }

  double began_ = 0;
  double used_ = 0;
  double drawing_ = 0;
  double counting_ = 0;
  std::chrono::steady_clock::time_point last_;
};

/// One thread's share of a batch.
template <class Id>
class Worker {
 public:
  Worker(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
         const Samples& samples, bool with_hosts)
      : pattern_(pattern),
        seating_(seating),
        samples_(samples),
        counter_(resolver, with_hosts),
        order_(seating.slots),
        placement_outcomes_(seating.random ? factorial(seating.slots.size()) : 1),
        move_(seating.random || seating.ranks_per_slot > 1 || !is_identity(seating.slots)),
        // Ranks that share a host may send to each other, and given rounds to themselves.
        may_stay_(with_hosts || pattern.sends_to_itself()),
        channel_messages_(resolver.switch_channels() + 2 * resolver.places(), 0) {}

  RoundAverages run(std::uint64_t sample, std::uint32_t round) {
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
      RandomChoices choices({samples_.seed, sample, kPlacementDraws});
      shuffle(std::span<std::uint32_t>(order_), choices);
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

/// Averages of a sample over those of its rounds that have messages, in the order of the rounds.
void average_samples(const std::vector<RoundAverages>& cells, std::uint32_t rounds,
                     BatchResult& result) {
  const std::size_t count = result.bandwidth.size();
  for (std::size_t sample = 0; sample < count; ++sample) {
    RoundAverages sum;
    double used = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const RoundAverages& cell = cells[sample * rounds + round];
      if (!cell.any) continue;
      used += 1;
      sum.bandwidth += cell.bandwidth;
      sum.mean += cell.mean;
      sum.max += cell.max;
      result.round_mean_congestion[round] +=
          static_cast<std::uint64_t>(std::llround(cell.mean / kMeanUnit));
      result.round_max_congestion[round] += static_cast<std::uint64_t>(cell.max);
    }
    result.bandwidth[sample] = used > 0 ? sum.bandwidth / used : 1;
    result.mean_congestion[sample] = used > 0 ? sum.mean / used : 1;
    result.max_congestion[sample] = used > 0 ? sum.max / used : 1;
  }
}

template <class Id>
BatchResult run(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                const Samples& samples, bool with_hosts, int threads) {
  const std::uint32_t rounds = pattern.rounds();
  BatchResult result;
  result.bandwidth.resize(samples.count);
  result.mean_congestion.resize(samples.count);
  result.max_congestion.resize(samples.count);
  result.round_mean_congestion.resize(rounds, 0);
  result.round_max_congestion.resize(rounds, 0);
  result.channel_messages.resize(resolver.switch_channels() + 2 * resolver.places(), 0);
  std::vector<RoundAverages> cells(std::size_t{samples.count} * rounds);
  const auto tasks = static_cast<std::int64_t>(cells.size());
  // Long enough to keep threads out of each other's cache lines, short enough to share fairly.
  const std::int64_t chunk = std::clamp<std::int64_t>(tasks / (8 * threads), 1, 64);
  std::deque<Worker<Id>> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(resolver, pattern, seating, samples, with_hosts);
  }
  // An exception must not leave the parallel part; the last one is thrown again after it.
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  {
    Worker<Id>& worker = workers[static_cast<std::size_t>(omp_get_thread_num())];
    worker.start_watch();
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t task = 0; task < tasks; ++task) {
      const auto sample = static_cast<std::uint64_t>(task) / rounds;
      const auto round = static_cast<std::uint32_t>(static_cast<std::uint64_t>(task) % rounds);
      try {
        cells[static_cast<std::size_t>(task)] = worker.run(samples.first + sample, round);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
    worker.stop_watch();
  }
  if (failure) std::rethrow_exception(failure);
  for (Worker<Id>& worker : workers) worker.add_to(result);
  average_samples(cells, rounds, result);
  return result;
}

void check(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
           const Samples& samples) {
  const std::uint64_t seats = std::uint64_t{seating.slots.size()} * seating.ranks_per_slot;
  if (pattern.ranks() > seats) {
    throw Error("a pattern of at most " + std::to_string(seats) + " ranks, got " +
                std::to_string(pattern.ranks()));
  }
  for (const Place place : seating.slots) {
    if (place >= resolver.places()) throw Error("a slot on a place that does not take part");
  }
  if (!samples.enumerate) return;
  const auto all = outcomes(pattern, seating);
  if (!all || samples.first + samples.count > *all) {
    throw Error("an enumeration goes beyond the number of outcomes");
  }
}

}  // namespace

std::optional<std::uint64_t> outcomes(const Pattern& pattern, const Seating& seating) {
  const auto drawn = pattern.outcomes();
  const auto seated = seating.random ? factorial(seating.slots.size()) : 1;
  if (!drawn || !seated || *drawn > (std::uint64_t{1} << 63) / *seated) return std::nullopt;
  return *drawn * *seated;
}

BatchResult simulate(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                     const Samples& samples, int threads) {
  check(resolver, pattern, seating, samples);
  if (threads <= 0) threads = omp_get_max_threads();
  const bool with_hosts = pattern.shares_ends() || shares_places(seating);
  return resolver.narrow()
             ? run<std::uint16_t>(resolver, pattern, seating, samples, with_hosts, threads)
             : run<std::uint32_t>(resolver, pattern, seating, samples, with_hosts, threads);
}

}  // namespace contend
