#include "contend/congestion/messages.hpp"

#include <algorithm>

#include "contend/congestion/crossings.hpp"

namespace contend {

MessageCongestion message_congestion(const Resolver& resolver, std::span<const Place> source,
                                     std::span<const Place> target) {
  const Crossings crossings(resolver, source, target);
  MessageCongestion found;
  found.channel_messages.assign(crossings.channels(), 0);
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    for (const std::uint32_t channel : crossings.of_message(m)) ++found.channel_messages[channel];
  }
  found.congestion.reserve(crossings.messages());
  for (std::size_t m = 0; m < crossings.messages(); ++m) {
    std::uint64_t most = 0;
    for (const std::uint32_t channel : crossings.of_message(m)) {
      most = std::max(most, found.channel_messages[channel]);
    }
    found.congestion.push_back(static_cast<std::uint32_t>(most));
  }
  return found;
}

}  // namespace contend
