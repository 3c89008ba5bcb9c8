#include "contend/congestion/crossings.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

void check_messages(const Resolver& resolver, std::span<const Place> source,
                    std::span<const Place> target) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  const std::size_t places = resolver.places();
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (std::max(source[m], target[m]) < places) continue;
    throw Error("places below " + std::to_string(places) + ", got message " +
                std::to_string(source[m]) + " -> " + std::to_string(target[m]));
  }
}

Crossings::Crossings(const Resolver& resolver, std::span<const Place> source,
                     std::span<const Place> target, bool with_memory, std::uint64_t draw)
    : channels_(resolver.switch_channels() + (with_memory ? 3 : 2) * resolver.places()) {
  check_messages(resolver, source, target);
  const std::size_t places = resolver.places();
  std::vector<Place> from;
  std::vector<Place> to;
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] == target[m]) continue;
    from.push_back(source[m]);
    to.push_back(target[m]);
  }
  const std::size_t stride = resolver.stride();
  const auto between = static_cast<std::uint32_t>(resolver.switch_channels());
  std::vector<std::uint32_t> routes(from.size() * stride);
  resolve_many(resolver, from, to, draw, routes.data());
  begin_.reserve(source.size() + 1);
  begin_.push_back(0);
  channel_.reserve(routes.size() + 2 * from.size());
  auto route = routes.begin();
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] != target[m]) {
      channel_.push_back(between + source[m]);
      for (std::size_t k = 0; k < stride; ++k, ++route) {
        if (*route < between) channel_.push_back(*route);
      }
      channel_.push_back(between + static_cast<std::uint32_t>(places) + target[m]);
    } else if (with_memory) {
      channel_.push_back(between + 2 * static_cast<std::uint32_t>(places) + source[m]);
    }
    begin_.push_back(channel_.size());
  }
}

}  // namespace contend
