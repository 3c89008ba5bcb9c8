#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "channel_rates.hpp"
#include "contend/base/vectorise.hpp"
#include "contend/routes/resolver.hpp"
#include "round_averages.hpp"

namespace contend {

/// Adds usage counts to totals and returns the largest count. Cost: one pass, vectorised.
CONTEND_VECTORISE
inline std::uint32_t fold_usage(const std::uint32_t* usage, std::uint32_t* total, std::size_t n) {
  std::uint32_t largest = 0;
  for (std::size_t c = 0; c < n; ++c) {
    total[c] += usage[c];
    largest = std::max(largest, usage[c]);
  }
  return largest;
}

/// Counts the messages on every channel during one round, then finds every message's pi.
///
/// `Id` holds a channel number. Counters have 32 bits although 16 would often do: adding to them
/// takes half the time, which is more than their size costs. The calls of a round come in order:
/// count() for every piece, fold() once, judge() for every piece, clear() once. Where channels
/// differ in rate, weigh() follows judge().
template <class Id>
class RoundCounter {
 public:
  RoundCounter(const Resolver& resolver, bool with_hosts)
      : resolver_(resolver),
        usage_(resolver.switch_channels() + kPads, 0),
        switch_total_(resolver.switch_channels(), 0),
        sent_(with_hosts ? resolver.places() : 0, 0),
        received_(sent_.size(), 0),
        sent_total_(sent_.size(), 0),
        received_total_(sent_.size(), 0) {}

  /// Which drawing of routes the pieces that follow take; see Resolver::resolve_drawn.
  void draw_routes(std::uint64_t draw) { draw_ = draw; }

  /// Looks up the routes of a piece and counts it. Source and target differ in every message.
  void count(std::span<const Place> source, std::span<const Place> target) {
    routes_.resize(std::max(routes_.size(), source.size() * resolver_.stride()));
    resolver_.resolve_drawn(source, target, draw_, routes_.data());
    switch (resolver_.stride()) {
      case 2:
        add_routes<2>(source.size());
        break;
      case 4:
        add_routes<4>(source.size());
        break;
      case 6:
        add_routes<6>(source.size());
        break;
      default:
        add_routes<0>(source.size());
        break;
    }
    if (sent_.empty()) return;
    for (std::size_t m = 0; m < source.size(); ++m) {
      ++sent_[source[m]];
      ++received_[target[m]];
    }
  }

  /// Closes the counting; returns the largest count on any channel.
  std::uint32_t fold() {
    std::fill(usage_.end() - kPads, usage_.end(), 0U);
    std::uint32_t largest =
        fold_usage(usage_.data(), switch_total_.data(), resolver_.switch_channels());
    largest = std::max(largest, fold_usage(sent_.data(), sent_total_.data(), sent_.size()));
    return std::max(largest,
                    fold_usage(received_.data(), received_total_.data(), received_.size()));
  }

  /// Adds every message of the piece to `by_pi`, with its weight or 1. When a round has several
  /// pieces their routes must be looked up again.
  void judge(std::span<const Place> source, std::span<const Place> target,
             std::span<const std::uint64_t> weight, bool look_up_again,
             std::span<std::uint64_t> by_pi) {
    if (look_up_again) resolver_.resolve_drawn(source, target, draw_, routes_.data());
    switch (resolver_.stride()) {
      case 2:
        find_pi<2>(source.size());
        break;
      case 4:
        find_pi<4>(source.size());
        break;
      case 6:
        find_pi<6>(source.size());
        break;
      default:
        find_pi<0>(source.size());
        break;
    }
    if (!sent_.empty()) {
      for (std::size_t m = 0; m < source.size(); ++m) {
        const std::uint32_t ends = std::max(sent_[source[m]], received_[target[m]]);
        pi_[m] = std::max(pi_[m], ends);
      }
    }
    if (weight.empty()) {
      add_to(by_pi, source.size());
    } else {
      for (std::size_t m = 0; m < source.size(); ++m) by_pi[pi_[m]] += weight[m];
    }
  }

  /// Prepares weigh(): copies what it needs of the rates.
  void set_rates(const ChannelRates& rates) {
    seconds_.assign(usage_.size(), 0);
    for (std::size_t c = 0; c < resolver_.switch_channels(); ++c) seconds_[c] = 1 / rates[c];
    injection_.resize(resolver_.places());
    ejection_.resize(resolver_.places());
    for (Place place = 0; place < resolver_.places(); ++place) {
      injection_[place] = 1 / rates.injection(place);
      ejection_[place] = 1 / rates.ejection(place);
    }
  }

  /// Adds what every message of the piece gets: the least, over its channels, of rate over load.
  /// Right after judge(), whose routes it uses.
  void weigh(std::span<const Place> source, std::span<const Place> target,
             std::span<const std::uint64_t> weight, RoundShares& sum) const {
    const std::size_t stride = resolver_.stride();
    const Id* route = routes_.data();
    for (std::size_t m = 0; m < source.size(); ++m, route += stride) {
      const double in = injection_[source[m]];
      const double out = ejection_[target[m]];
      // Seconds a byte: alone between the two ports, and beside the others.
      const double alone = std::max(in, out);
      double seconds = alone;
      for (std::size_t k = 0; k < stride; ++k) {
        seconds = std::max(seconds, usage_[route[k]] * seconds_[route[k]]);
      }
      if (!sent_.empty()) {
        seconds = std::max({seconds, sent_[source[m]] * in, received_[target[m]] * out});
      }
      const double messages = weight.empty() ? 1 : static_cast<double>(weight[m]);
      sum.weight += messages;
      sum.share += messages * (alone / seconds);
      sum.slowdown += messages * (seconds / alone);
      sum.largest = std::max(sum.largest, seconds / alone);
      sum.bytes_per_second += messages / seconds;
      sum.seconds += messages * seconds;
      sum.slowest = std::max(sum.slowest, seconds);
    }
  }

  void clear() {
    std::fill(usage_.begin(), usage_.end(), 0U);
    std::fill(sent_.begin(), sent_.end(), 0U);
    std::fill(received_.begin(), received_.end(), 0U);
  }

  /// Adds the totals since the last call to `channel_messages` and starts them anew.
  void collect_totals(std::span<std::uint64_t> channel_messages) {
    auto out = channel_messages.begin();
    for (auto* totals : {&switch_total_, &sent_total_, &received_total_}) {
      for (std::uint32_t& total : *totals) {
        *out++ += total;
        total = 0;
      }
    }
  }

 private:
  template <std::size_t Stride>
  void add_routes(std::size_t messages) {
    const std::size_t stride = Stride > 0 ? Stride : resolver_.stride();
    std::uint32_t* usage = usage_.data();
    const Id* route = routes_.data();
    for (std::size_t m = 0; m < messages; ++m, route += stride) {
      for_channels<Stride>(route, stride, [&](std::size_t channel) { ++usage[channel]; });
    }
  }

  /// Visits the channels of one route. Four narrow numbers are read as one word where the stride is
  /// known: the loads, not the counting, are what there is most of.
  template <std::size_t Stride, class Visit>
  static void for_channels(const Id* route, std::size_t stride, Visit visit) {
    std::size_t k = 0;
    if constexpr (sizeof(Id) == 2) {
      for (; k + 4 <= Stride; k += 4) {
        std::uint64_t four;
        std::memcpy(&four, route + k, sizeof four);
        visit(four & 0xFFFF);
        visit(four >> 16 & 0xFFFF);
        visit(four >> 32 & 0xFFFF);
        visit(four >> 48);
      }
    }
    for (; k < stride; ++k) visit(route[k]);
  }

  /// pi of every message of the piece, into pi_.
  template <std::size_t Stride>
  void find_pi(std::size_t messages) {
    const std::size_t stride = Stride > 0 ? Stride : resolver_.stride();
    pi_.resize(std::max(pi_.size(), messages));
    const std::uint32_t* usage = usage_.data();
    const Id* route = routes_.data();
    std::uint32_t* pi = pi_.data();
    for (std::size_t m = 0; m < messages; ++m, route += stride) {
      // A message that crosses no channel between switches still has its host's, all to itself.
      std::uint32_t most = 1;
      for (std::size_t k = 0; k < stride; ++k) most = std::max(most, usage[route[k]]);
      pi[m] = most;
    }
  }

  /// Most messages share a few values of pi; counters used in turn do not wait for each other.
  void add_to(std::span<std::uint64_t> by_pi, std::size_t messages) {
    constexpr std::size_t kCounters = 4;
    counters_.assign(kCounters * by_pi.size(), 0);
    std::uint32_t* counters = counters_.data();
    const std::uint32_t* pi = pi_.data();
    for (std::size_t m = 0; m < messages; ++m) {
      ++counters[kCounters * std::size_t{pi[m]} + m % kCounters];
    }
    for (std::size_t value = 0; value < by_pi.size(); ++value) {
      for (std::size_t k = 0; k < kCounters; ++k) by_pi[value] += counters[kCounters * value + k];
    }
  }

  const Resolver& resolver_;
  std::vector<std::uint32_t> usage_;
  std::vector<std::uint32_t> switch_total_;
  std::vector<std::uint32_t> sent_;
  std::vector<std::uint32_t> received_;
  std::vector<std::uint32_t> sent_total_;
  std::vector<std::uint32_t> received_total_;
  std::uint64_t draw_ = 0;
  std::vector<Id> routes_;
  std::vector<std::uint32_t> pi_;
  std::vector<std::uint32_t> counters_;
  std::vector<double> seconds_;  ///< a byte takes on each channel between switches; 0 for padding
  std::vector<double> injection_;
  std::vector<double> ejection_;
};

}  // namespace contend
