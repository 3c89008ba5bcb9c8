#include "contend/congestion/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <span>

#include "../exchanges/exchanges.hpp"
#include "channel_rates.hpp"
#include "contend/base/threads.hpp"
#include "round_averages.hpp"
#include "worker.hpp"

namespace contend {

namespace {

/// Averages of a sample over those of its rounds that have messages, in the order of the rounds.
/// A sample without any counts as free of congestion, in all its rounds.
void average_samples(const std::vector<RoundAverages>& cells, std::uint32_t rounds,
                     std::uint32_t unit, BatchResult& result) {
  const std::size_t count = result.bandwidth.size();
  for (std::size_t sample = 0; sample < count; ++sample) {
    RoundAverages sum;
    double used = 0;
    const std::span<const RoundAverages> row(cells.data() + sample * rounds, rounds);
    const bool silent = std::none_of(row.begin(), row.end(), [](const auto& c) { return c.any; });
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const RoundAverages cell = silent ? RoundAverages{1, 1, 1, true, 1, 1} : row[round];
      if (!cell.any) continue;
      used += 1;
      ++result.round_samples[round];
      sum.bandwidth += cell.bandwidth;
      sum.mean += cell.mean;
      sum.max += cell.max;
      sum.pairs += cell.pairs;
      sum.ports += cell.ports;
      result.round_mean_congestion[round] +=
          static_cast<std::uint64_t>(std::llround(cell.mean / kMeanUnit));
      result.round_max_congestion[round] +=
          static_cast<std::uint64_t>(std::llround(cell.max * unit));
    }
    if (!result.pair_bandwidth.empty()) result.pair_bandwidth[sample] = sum.pairs / used;
    result.bandwidth[sample] = sum.bandwidth / used;
    result.mean_congestion[sample] = sum.mean / used;
    result.max_congestion[sample] = sum.max / used;
    result.port_congestion[sample] = sum.ports / used;
  }
}

/// The same of what messages get where channels differ in rate.
void average_shares(const std::vector<RoundAverages>& cells, const std::vector<RoundShares>& shares,
                    std::uint32_t rounds, double fastest_port, BatchResult& result) {
  const auto units = [&](double seconds) {
    return static_cast<std::uint64_t>(std::llround(seconds * fastest_port / kMeanUnit));
  };
  result.round_max_time.resize(rounds, 0);
  const bool paired = !result.pair_bandwidth.empty();
  for (std::size_t begin = 0; begin < cells.size(); begin += rounds) {
    RoundShares sum;
    for (std::size_t cell = begin; cell < begin + rounds; ++cell) {
      const RoundShares& round = shares[cell];
      if (!cells[cell].any) continue;
      sum.weight += 1;
      sum.share += round.share / round.weight;
      sum.slowdown += round.slowdown / round.weight;
      sum.largest += round.largest;
      sum.bytes_per_second += round.bytes_per_second / round.weight;
      sum.seconds += round.seconds / round.weight;
      sum.slowest += round.slowest;
      sum.ports += round.ports;
      sum.pair_share += round.pair_share / round.weight;
      sum.pair_bytes_per_second += round.pair_bytes_per_second / round.weight;
      result.round_max_time[cell - begin] += units(round.slowest);
    }
    if (sum.weight == 0) {
      const double alone = 1 / fastest_port;
      sum = {1, 1, 1, 1, fastest_port, alone, alone, 1, fastest_port, alone};
      for (std::uint64_t& time : result.round_max_time) time += units(sum.slowest);
    }
    result.share.push_back(sum.share / sum.weight);
    result.mean_slowdown.push_back(sum.slowdown / sum.weight);
    result.max_slowdown.push_back(sum.largest / sum.weight);
    result.bytes_per_second.push_back(sum.bytes_per_second / sum.weight);
    result.mean_seconds_per_byte.push_back(sum.seconds / sum.weight);
    result.max_seconds_per_byte.push_back(sum.slowest / sum.weight);
    result.port_seconds_per_byte.push_back(sum.ports / sum.weight);
    if (!paired) continue;
    result.pair_bandwidth[begin / rounds] = sum.pair_share / sum.weight;
    result.pair_bytes_per_second.push_back(sum.pair_bytes_per_second / sum.weight);
  }
}

/// A round of pieces that all workers share. What it comes to does not depend on who has which.
template <class Worker>
RoundAverages run_together(std::deque<Worker>& workers, std::uint64_t sample, std::uint32_t round,
                           std::uint32_t pieces, RoundShares* shares) {
  const auto threads = static_cast<int>(workers.size());
  Progress passes(2);
  const auto each = [&](const auto& step) {
    in_parallel(threads, pieces, run_length(pieces, threads), [&](const Pieces& mine) {
      Worker& worker = workers[mine.thread()];
      worker.start_watch();
      for (const std::size_t piece : mine) step(worker, static_cast<std::uint32_t>(piece));
      worker.stop_watch();
    });
    passes.done();
  };
  Worker& first = workers.front();
  for (Worker& worker : workers) worker.begin(sample, round);
  each([](Worker& worker, std::uint32_t piece) { worker.count(piece); });
  for (std::size_t k = 1; k < workers.size(); ++k) first.absorb(workers[k]);
  first.fold();
  for (std::size_t k = 1; k < workers.size(); ++k) workers[k].adopt(first, sample, round);
  first.begin(sample, round);
  std::vector<RoundShares> found(shares != nullptr ? pieces : 0);
  each([&](Worker& worker, std::uint32_t piece) {
    const RoundShares these = worker.judge(piece, true);
    if (shares != nullptr) found[piece] = these;
  });
  for (std::size_t k = 1; k < workers.size(); ++k) first.take(workers[k]);
  // In the order of the pieces: sums of rounded numbers depend on it.
  for (const RoundShares& these : found) shares->add(these);
  return first.finish();
}

/// Counts the messages of every (sample, round), each of which is followed.
template <class Worker>
void count_messages(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                    const Samples& samples, int threads, const ChannelRates* rates,
                    std::span<RoundAverages> cells, std::span<RoundShares> shares,
                    BatchResult& result) {
  const std::uint32_t rounds = pattern.rounds();
  const bool with_hosts = pattern.shares_ends() || shares_places(seating);
  const bool together = shares_pieces(pattern, cells.size(), threads);
  // More would have nothing to do, but take memory.
  if (!together) threads = static_cast<int>(std::clamp<std::size_t>(cells.size(), 1, threads));
  std::deque<Worker> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(resolver, pattern, seating, samples, with_hosts, rates,
                         !result.pair_bandwidth.empty());
  }
  const auto shares_of = [&](std::size_t cell) {
    return rates != nullptr ? &shares[cell] : nullptr;
  };
  if (together) {
    for (const std::size_t cell : InParts(cells.size())) {
      const auto round = static_cast<std::uint32_t>(cell % rounds);
      cells[cell] = run_together(workers, samples.first + cell / rounds, round,
                                 pattern.pieces(round), shares_of(cell));
    }
  } else {
    // Long enough to keep threads out of each other's cache lines, short enough to share fairly.
    in_parallel(threads, cells.size(), run_length(cells.size(), threads),
                [&](const Pieces& pieces) {
                  Worker& worker = workers[pieces.thread()];
                  worker.start_watch();
                  for (const std::size_t cell : pieces) {
                    const auto round = static_cast<std::uint32_t>(cell % rounds);
                    cells[cell] = worker.run(samples.first + cell / rounds, round, shares_of(cell));
                  }
                  worker.stop_watch();
                });
  }
  for (Worker& worker : workers) worker.add_to(result);
}

/// Whether 16 bits hold what any channel carries in a round, as every rank sends once at most.
bool loads_are_small(const Resolver& resolver, const Pattern& pattern) {
  return !resolver.splits() && !pattern.shares_ends() &&
         std::uint64_t{pattern.ranks()} * resolver.unit() <=
             RoundCounter<std::uint32_t, std::uint16_t>::kMostMessages;
}

}  // namespace

BatchResult simulate(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                     const Samples& samples, int threads, std::span<const double> rate) {
  check_samples(resolver, pattern, seating, samples);
  std::optional<ChannelRates> rates;
  if (!rate.empty()) rates.emplace(resolver, rate);
  const ChannelRates* const differing = rates ? &*rates : nullptr;
  const std::uint32_t rounds = pattern.rounds();
  BatchResult result;
  result.bandwidth.resize(samples.count);
  result.mean_congestion.resize(samples.count);
  result.max_congestion.resize(samples.count);
  result.port_congestion.resize(samples.count);
  const bool paired = pattern.paired();
  if (paired) result.pair_bandwidth.resize(samples.count);
  result.round_mean_congestion.resize(rounds, 0);
  result.round_max_congestion.resize(rounds, 0);
  result.round_samples.resize(rounds, 0);
  result.channel_messages.resize(resolver.switch_channels() + 2 * resolver.places(), 0);
  std::vector<RoundAverages> cells(std::size_t{samples.count} * rounds);
  std::vector<RoundShares> shares(differing != nullptr ? cells.size() : 0);
  const int used = thread_count(threads);
  if (!paired && counts_exchanges(resolver, pattern)) {
    count_exchanges(resolver, pattern, seating, samples, used, differing, cells, shares, result);
  } else {
    const auto count = resolver.narrow() ? count_messages<Worker<std::uint16_t, std::uint32_t>>
                       : loads_are_small(resolver, pattern)
                           ? count_messages<Worker<std::uint32_t, std::uint16_t>>
                           : count_messages<Worker<std::uint32_t, std::uint32_t>>;
    count(resolver, pattern, seating, samples, used, differing, cells, shares, result);
  }
  average_samples(cells, rounds, resolver.unit(), result);
  if (rates) average_shares(cells, shares, rounds, rates->fastest_port(), result);
  return result;
}

}  // namespace contend
