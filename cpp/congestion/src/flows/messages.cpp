#include "contend/congestion/messages.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "../rounds/channel_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/crossings.hpp"

namespace contend {

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

}  // namespace contend
