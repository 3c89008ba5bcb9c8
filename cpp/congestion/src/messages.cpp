#include "contend/congestion/messages.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "channel_rates.hpp"
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
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t channel : crossings.of_message(m)) {
      const auto load = static_cast<double>(found.channel_messages[channel]);
      least = std::min(least, (*rates)[channel] / load);
    }
    found.share.push_back(least / rates->port(source[m], target[m]));
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

}  // namespace contend
