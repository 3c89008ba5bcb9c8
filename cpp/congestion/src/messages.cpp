#include "contend/congestion/messages.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "channel_rates.hpp"
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

}  // namespace contend
