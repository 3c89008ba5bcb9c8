#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/pattern/shuffle.hpp"
#include "contend/routes/checks/trace.hpp"

namespace contend::test {

/// Counts what simulate() should find, one message after the other, with maps; every host's
/// channels count always, which changes no pi where nobody shares them. `rate`: of every channel,
/// or none.
class Naive {
 public:
  Naive(const RandomFabric& on, Places places, const Pattern& pattern, Seating seating,
        std::vector<double> rate = {})
      : on_(on),
        places_(std::move(places)),
        pattern_(pattern),
        seating_(std::move(seating)),
        rate_(std::move(rate)) {
    result_.round_mean_congestion.assign(pattern.rounds(), 0);
    result_.round_max_congestion.assign(pattern.rounds(), 0);
    result_.round_samples.assign(pattern.rounds(), 0);
    if (!rate_.empty()) result_.round_max_time.assign(pattern.rounds(), 0);
    result_.channel_messages.assign(on.fabric.switch_channels() + 2 * places_.hosts.size(), 0);
  }

  const BatchResult& result() const { return result_; }

  void run(const Samples& samples) {
    for (std::uint64_t k = samples.first; k < samples.first + samples.count; ++k) {
      Figures sum;
      double used = 0;
      for (std::uint32_t round = 0; round < pattern_.rounds(); ++round) {
        const Figures figures = judge(messages_of(samples.seed, k, round));
        if (figures.max == 0) continue;
        ++used;
        ++result_.round_samples[round];
        sum.bandwidth += figures.bandwidth;
        sum.mean += figures.mean;
        sum.max += figures.max;
        sum.ports += figures.ports;
        sum.port_seconds += figures.port_seconds;
        sum.share += figures.share;
        sum.slowdown += figures.slowdown;
        sum.largest += figures.largest;
        sum.rate += figures.rate;
        sum.seconds += figures.seconds;
        sum.slowest += figures.slowest;
        sum.pair_share += figures.pair_share;
        sum.pair_rate += figures.pair_rate;
        result_.round_mean_congestion[round] +=
            static_cast<std::uint64_t>(std::llround(figures.mean / kMeanUnit));
        result_.round_max_congestion[round] += static_cast<std::uint64_t>(figures.max);
        if (!rate_.empty()) {
          result_.round_max_time[round] += static_cast<std::uint64_t>(
              std::llround(figures.slowest * fastest_port() / kMeanUnit));
        }
      }
      // Nothing stands in the way of a sample that has no messages on the network.
      if (used == 0) count_as_free();
      result_.bandwidth.push_back(used > 0 ? sum.bandwidth / used : 1);
      result_.mean_congestion.push_back(used > 0 ? sum.mean / used : 1);
      result_.max_congestion.push_back(used > 0 ? sum.max / used : 1);
      result_.port_congestion.push_back(used > 0 ? sum.ports / used : 1);
      if (!rate_.empty()) add_weighed(sum, used);
      if (!pattern_.paired()) continue;
      result_.pair_bandwidth.push_back(used > 0 ? sum.pair_share / used : 1);
      if (rate_.empty()) continue;
      result_.pair_bytes_per_second.push_back(used > 0 ? sum.pair_rate / used : fastest_port());
    }
  }

 private:
  struct Figures {
    double bandwidth = 0;
    double mean = 0;
    double max = 0;
    double ports = 0;
    double port_seconds = 0;
    double share = 0;
    double slowdown = 0;
    double largest = 0;
    double rate = 0;
    double seconds = 0;
    double slowest = 0;
    double pair_share = 0;
    double pair_rate = 0;
  };

  void add_weighed(const Figures& sum, double used) {
    const double fastest = fastest_port();
    const bool any = used > 0;
    result_.share.push_back(any ? sum.share / used : 1);
    result_.mean_slowdown.push_back(any ? sum.slowdown / used : 1);
    result_.max_slowdown.push_back(any ? sum.largest / used : 1);
    result_.bytes_per_second.push_back(any ? sum.rate / used : fastest);
    result_.mean_seconds_per_byte.push_back(any ? sum.seconds / used : 1 / fastest);
    result_.max_seconds_per_byte.push_back(any ? sum.slowest / used : 1 / fastest);
    result_.port_seconds_per_byte.push_back(any ? sum.port_seconds / used : 1 / fastest);
  }

  double fastest_port() const {
    return *std::max_element(
        rate_.begin() + static_cast<std::ptrdiff_t>(on_.fabric.switch_channels()), rate_.end());
  }

  void count_as_free() {
    for (std::uint32_t round = 0; round < pattern_.rounds(); ++round) {
      if (!rate_.empty()) result_.round_max_time[round] += std::uint64_t{1} << 20;
      result_.round_mean_congestion[round] += std::uint64_t{1} << 20;
      ++result_.round_max_congestion[round];
      ++result_.round_samples[round];
    }
  }

  struct Message {
    Place from;
    Place to;
    std::uint64_t weight;
  };

  std::vector<Message> messages_of(std::uint64_t seed, std::uint64_t sample,
                                   std::uint32_t round) const {
    std::vector<Place> order = seating_.slots;
    if (seating_.random) {
      RandomChoices choices({seed, sample, 0});
      shuffle(std::span<std::uint32_t>(order), choices);
    }
    std::vector<Message> all;
    RandomChoices choices({seed, sample, 1 + round});
    Messages piece;
    for (std::uint32_t p = 0; p < pattern_.pieces(round); ++p) {
      pattern_.fill(round, p, choices, piece);
      for (std::size_t m = 0; m < piece.size(); ++m) {
        all.push_back({order.at(piece.source[m] / seating_.ranks_per_slot),
                       order.at(piece.target[m] / seating_.ranks_per_slot),
                       piece.weight.empty() ? 1 : piece.weight[m]});
      }
    }
    return all;
  }

  /// Channels numbered as in `channel_messages`.
  std::vector<std::size_t> route_of(const Message& message) const {
    const HostId to = places_.hosts[message.to];
    const Address turn = places_.spread ? (message.from + message.to) % (1U << on_.lmc[to]) : 0;
    std::vector<ChannelId> between;
    trace(on_.fabric, on_.tables(), on_.fabric.host_switch(places_.hosts[message.from]), to,
          on_.first[to] + turn, between);
    std::vector<std::size_t> route(between.begin(), between.end());
    route.push_back(on_.fabric.switch_channels() + message.from);
    route.push_back(on_.fabric.switch_channels() + places_.hosts.size() + message.to);
    return route;
  }

  Figures judge(const std::vector<Message>& messages) {
    std::map<std::size_t, std::uint64_t> usage;
    for (const Message& message : messages) {
      if (message.from == message.to) continue;
      for (const std::size_t channel : route_of(message)) ++usage[channel];
    }
    for (const auto& [channel, count] : usage) result_.channel_messages[channel] += count;
    Figures sum;
    for (const auto& [channel, count] : usage) {
      if (channel < on_.fabric.switch_channels()) continue;
      const auto messages_there = static_cast<double>(count);
      sum.ports = std::max(sum.ports, messages_there);
      if (!rate_.empty())
        sum.port_seconds = std::max(sum.port_seconds, messages_there / rate_[channel]);
    }
    double weight = 0;
    // What a message gets, share and rate, by its ends.
    std::map<std::pair<Place, Place>, std::pair<double, double>> got;
    for (const Message& message : messages) {
      std::uint64_t pi = 0;
      if (message.from != message.to) {
        for (const std::size_t channel : route_of(message)) pi = std::max(pi, usage[channel]);
        const auto counts = static_cast<double>(message.weight);
        weight += counts;
        sum.bandwidth += counts / static_cast<double>(pi);
        sum.mean += counts * static_cast<double>(pi);
        sum.max = std::max(sum.max, static_cast<double>(pi));
        auto& [share, rate] = got[{message.from, message.to}];
        share = 1 / static_cast<double>(pi);
        if (!rate_.empty()) {
          const Figures before = sum;
          weigh(route_of(message), usage, counts, sum);
          share = (sum.share - before.share) / counts;
          rate = (sum.rate - before.rate) / counts;
        }
      }
      if (result_.histogram.size() <= pi) result_.histogram.resize(pi + 1, 0);
      result_.histogram[pi] += message.weight;
    }
    for (const Message& message : messages) {
      const auto back = got.find({message.to, message.from});
      if (message.from == message.to || back == got.end()) continue;
      const auto& there = got[{message.from, message.to}];
      const auto counts = static_cast<double>(message.weight);
      sum.pair_share += counts * std::min(there.first, back->second.first);
      sum.pair_rate += counts * std::min(there.second, back->second.second);
    }
    if (weight > 0) {
      for (double* mean : {&sum.bandwidth, &sum.mean, &sum.share, &sum.slowdown, &sum.rate,
                           &sum.seconds, &sum.pair_share, &sum.pair_rate}) {
        *mean /= weight;
      }
    }
    return sum;
  }

  /// A route ends with the channels of its two hosts.
  void weigh(const std::vector<std::size_t>& route, std::map<std::size_t, std::uint64_t>& usage,
             double counts, Figures& sum) const {
    const double port = std::min(rate_[route[route.size() - 2]], rate_[route.back()]);
    double least = port;
    for (const std::size_t channel : route) {
      least = std::min(least, rate_[channel] / static_cast<double>(usage[channel]));
    }
    sum.share += counts * least / port;
    sum.slowdown += counts * port / least;
    sum.largest = std::max(sum.largest, port / least);
    sum.rate += counts * least;
    sum.seconds += counts / least;
    sum.slowest = std::max(sum.slowest, 1 / least);
  }

  const RandomFabric& on_;
  Places places_;
  const Pattern& pattern_;
  Seating seating_;
  std::vector<double> rate_;
  BatchResult result_;
};

}  // namespace contend::test
