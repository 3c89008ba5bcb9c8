#include "contend/congestion/messages.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

MessageCongestion message_congestion(const Resolver& resolver, std::span<const Place> source,
                                     std::span<const Place> target) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  const std::size_t places = resolver.places();
  std::vector<Place> from;
  std::vector<Place> to;
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (std::max(source[m], target[m]) >= places) {
      throw Error("places below " + std::to_string(places) + ", got message " +
                  std::to_string(source[m]) + " -> " + std::to_string(target[m]));
    }
    if (source[m] == target[m]) continue;
    from.push_back(source[m]);
    to.push_back(target[m]);
  }
  const std::size_t channels = resolver.switch_channels();
  const std::size_t stride = resolver.stride();
  std::vector<std::uint32_t> routes(from.size() * stride);
  resolver.resolve(from, to, routes.data());

  MessageCongestion found;
  found.channel_messages.assign(channels + 2 * places, 0);
  for (std::size_t m = 0; m < from.size(); ++m) {
    ++found.channel_messages[channels + from[m]];
    ++found.channel_messages[channels + places + to[m]];
  }
  for (const std::uint32_t channel : routes) {
    if (channel < channels) ++found.channel_messages[channel];
  }
  std::size_t kept = 0;
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] == target[m]) {
      found.congestion.push_back(0);
      continue;
    }
    std::uint64_t most = std::max(found.channel_messages[channels + source[m]],
                                  found.channel_messages[channels + places + target[m]]);
    for (std::size_t k = 0; k < stride; ++k) {
      const std::uint32_t channel = routes[kept * stride + k];
      if (channel < channels) most = std::max(most, found.channel_messages[channel]);
    }
    found.congestion.push_back(static_cast<std::uint32_t>(most));
    ++kept;
  }
  return found;
}

}  // namespace contend
