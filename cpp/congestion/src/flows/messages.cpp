#include "contend/congestion/messages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "../rounds/channel_rates.hpp"
#include "../split/ideal_counter.hpp"
#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/congestion/crossings.hpp"
#include "contend/congestion/flows.hpp"
#include "contend/routes/split/ways.hpp"

namespace contend {

namespace {

/// What rounding may leave of a message that has ended, as a part of its size.
constexpr double kNothing = 1e-11;

/// All messages that cross a channel, under way together.
struct Together {
  Together(const Crossings& crossings, std::vector<double> rate)
      : flows(crossings, std::move(rate)) {
    for (std::uint32_t m = 0; m < crossings.messages(); ++m) {
      if (!crossings.of_message(m).empty()) under_way.push_back({m, flows.begin(m)});
    }
  }
  void fill() {
    flows.gather();
    flows.fill();
  }

  struct Message {
    std::uint32_t number;
    std::uint32_t flow;
  };
  Flows flows;
  std::vector<Message> under_way;
};

std::vector<double> checked_sizes(std::span<const double> size, std::size_t messages) {
  if (size.empty()) return std::vector<double>(messages, 1);
  if (size.size() != messages) throw Error("as many sizes as messages");
  for (const double one : size) {
    if (!(one > 0) || !std::isfinite(one)) throw Error("sizes above 0");
  }
  return {size.begin(), size.end()};
}

/// Where each splits as is best for all.
std::vector<double> ideal_share(const Resolver& resolver, std::span<const Place> source,
                                std::span<const Place> target, const ChannelRates& rates) {
  IdealCounter counter(resolver);
  counter.set_rates(rates);
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] != target[m]) counter.count(source.subspan(m, 1), target.subspan(m, 1));
  }
  counter.solve();
  std::vector<double> shares(source.size(), 1.0);
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] == target[m]) continue;
    const double share = rates.alone(source[m], target[m]) / counter.seconds(source[m], target[m]);
    shares[m] = std::min(share, 1.0);
  }
  return shares;
}

}  // namespace

MessageCongestion message_congestion(const Resolver& resolver, std::span<const Place> source,
                                     std::span<const Place> target, std::span<const double> rate,
                                     std::uint64_t draw) {
  std::optional<ChannelRates> rates;
  if (!rate.empty()) rates.emplace(resolver, rate);
  const Crossings crossings(resolver, source, target, false, draw);
  MessageCongestion found;
  found.channel_messages.assign(crossings.channels(), 0);
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    for (const std::uint32_t channel : crossings.of_message(m)) ++found.channel_messages[channel];
  }
  std::vector<double> seconds;
  for (const double channel_rate : rate) seconds.push_back(1 / channel_rate);
  found.congestion.reserve(crossings.messages());
  found.share.reserve(crossings.messages());
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    std::uint64_t most = 0;
    for (const std::uint32_t channel : crossings.of_message(m)) {
      most = std::max(most, found.channel_messages[channel]);
    }
    found.congestion.push_back(static_cast<std::uint32_t>(most));
    if (!rates || most == 0) {
      found.share.push_back(1 / static_cast<double>(std::max<std::uint64_t>(most, 1)));
      continue;
    }
    const auto route = crossings.of_message(m);
    const double alone = rates->alone(source[m], target[m]);
    found.share.push_back(
        alone / seconds_beside(route.data(), route.size(), seconds.data(), alone,
                               [&](std::size_t k) { return found.channel_messages[route[k]]; }));
  }
  return found;
}

std::vector<double> route_shares(std::span<const std::uint32_t> route, std::size_t stride,
                                 std::span<const double> load, std::span<const double> rate) {
  if (stride < 2 || route.size() % stride != 0) throw Error("routes with both of their ports");
  if (load.size() != route.size()) throw Error("a load for every channel of a route");
  std::vector<double> seconds;
  for (const double channel_rate : rate) seconds.push_back(1 / channel_rate);
  for (const std::uint32_t channel : route) {
    if (channel >= rate.size()) throw Error("no channel " + std::to_string(channel));
  }
  std::vector<double> share;
  share.reserve(route.size() / stride);
  for (std::size_t first = 0; first < route.size(); first += stride) {
    const auto own = route.subspan(first, stride);
    const double alone = std::max(seconds[own[stride - 2]], seconds[own[stride - 1]]);
    share.push_back(alone / seconds_beside(own.data(), stride, seconds.data(), alone,
                                           [&](std::size_t k) { return load[first + k]; }));
  }
  return share;
}

SplitCongestion split_congestion(const Resolver& resolver, std::span<const Place> source,
                                 std::span<const Place> target, std::span<const double> rate) {
  check_messages(resolver, source, target);
  const Ways* const ways = resolver.ways();
  if (ways == nullptr) throw Error("routes that split messages");
  const std::size_t between = resolver.switch_channels();
  const std::size_t places = resolver.places();
  const std::vector<double> each = rates_or_ones(rate, between + 2 * places);
  std::vector<std::uint64_t> messages(ways->classes() * ways->leaves(), 0);
  std::vector<double> load(each.size(), 0);
  const auto pair_of = [&](std::size_t m) {
    return ways->class_of(target[m]) * ways->leaves() + ways->leaf_of(source[m]);
  };
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] == target[m]) continue;
    // Within a switch no message meets others but at its hosts.
    const bool leaves = ways->leaf_of_class(ways->class_of(target[m])) != ways->leaf_of(source[m]);
    messages[pair_of(m)] += leaves ? 1 : 0;
    ++load[between + source[m]];
    ++load[between + places + target[m]];
  }
  Crossed crossed;
  ways->spread(messages, std::span(load).first(between), crossed);
  const auto largest_of = [&](const std::vector<double>& value) {
    std::vector<double> of_pairs(messages.size(), 0);
    ways->largest(messages, crossed, std::span(value).first(between), of_pairs);
    std::vector<double> found(source.size(), 0);
    for (std::size_t m = 0; m < source.size(); ++m) {
      if (source[m] == target[m]) continue;
      found[m] = std::max(
          {of_pairs[pair_of(m)], value[between + source[m]], value[between + places + target[m]]});
    }
    return found;
  };
  SplitCongestion found{largest_of(load), {}};
  for (std::size_t c = 0; c < load.size(); ++c) load[c] /= each[c];
  found.share = largest_of(load);
  for (std::size_t m = 0; m < source.size(); ++m) {
    const double port = std::min(each[between + source[m]], each[between + places + target[m]]);
    found.share[m] = source[m] == target[m] ? 1 : 1 / (found.share[m] * port);
  }
  return found;
}

std::vector<std::uint64_t> channel_amounts(const Resolver& resolver, std::span<const Place> source,
                                           std::span<const Place> target,
                                           std::span<const std::uint64_t> amount) {
  if (amount.size() != source.size()) {
    throw Error("expected an amount for each of " + std::to_string(source.size()) +
                " messages, got " + std::to_string(amount.size()));
  }
  const Crossings crossings(resolver, source, target, false, 0);
  std::vector<std::uint64_t> through(crossings.channels(), 0);
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    for (const std::uint32_t channel : crossings.of_message(m)) {
      if (__builtin_add_overflow(through[channel], amount[m], &through[channel])) {
        throw Error("more than 2^64 - 1 in all cross a channel");
      }
    }
  }
  return through;
}

std::vector<double> fair_share(const Resolver& resolver, std::span<const Place> source,
                               std::span<const Place> target, std::span<const double> rate,
                               std::uint64_t draw) {
  if (resolver.ideal_ways() != nullptr) {
    check_messages(resolver, source, target);
    const std::vector<double> each =
        rates_or_ones(rate, resolver.switch_channels() + 2 * resolver.places());
    return ideal_share(resolver, source, target, ChannelRates(resolver, each));
  }
  const Crossings crossings(resolver, source, target, false, draw);
  const std::vector<double> each = rates_or_ones(rate, crossings.channels());
  const ChannelRates rates(resolver, each);
  Together together(crossings, each);
  together.fill();
  std::vector<double> shares(crossings.messages(), 1.0);
  for (const auto& [number, flow] : together.under_way) {
    shares[number] = together.flows.share(flow) / rates.port(source[number], target[number]);
  }
  return shares;
}

std::vector<double> fluid_times(const Resolver& resolver, std::span<const Place> source,
                                std::span<const Place> target, std::span<const double> size,
                                std::span<const double> rate) {
  const Crossings crossings(resolver, source, target);
  const std::vector<double> each = rates_or_ones(rate, crossings.channels());
  const double fastest = ChannelRates(resolver, each).fastest_port();
  Together together(crossings, each);
  const std::vector<double> sizes = checked_sizes(size, crossings.messages());
  std::vector<double> rest = sizes;
  std::vector<double> times = sizes;
  for (double& alone : times) alone /= fastest;
  double now = 0;
  while (!together.under_way.empty()) {
    check_interruption();
    together.fill();
    const Flows& flows = together.flows;
    double step = std::numeric_limits<double>::infinity();
    for (const auto& [number, flow] : together.under_way) {
      step = std::min(step, rest[number] / flows.share(flow));
    }
    now += step;
    for (const auto& [number, flow] : together.under_way) {
      rest[number] -= step * flows.share(flow);
      times[number] = now;
    }
    std::erase_if(together.under_way, [&](const Together::Message& message) {
      const bool ended = rest[message.number] <= kNothing * sizes[message.number];
      if (ended) together.flows.end(message.flow);
      return ended;
    });
  }
  return times;
}

}  // namespace contend
