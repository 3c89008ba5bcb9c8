#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../rounds/channel_rates.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// A move of every rank by `period` ranks, the last ones to the front, after which all routes
/// between ranks cross what they crossed before, if channels are renamed. Trees whose pods are
/// alike have one, and grids along a dimension that closes.
///
/// Where every rank sends to the one at the same distance, such a move leaves the messages what
/// they were. So channels that it takes to each other carry the same, as many messages as those of
/// the first `period` ranks put on any of them together.
struct Translation {
  std::size_t period;
  std::vector<ChannelId> first;  ///< by channel: the lowest of those that it is taken to
};

/// The one with the shortest period, each of whose channels is taken to as many as ranks are to, at
/// rates that are the same; none where no such one is found with at most `most_looks` routes
/// looked up. `places` says where the ranks sit, each on a host of its own.
std::optional<Translation> find_translation(const Resolver& resolver, std::span<const Place> places,
                                            const ChannelRates* rates, std::uint64_t most_looks,
                                            int threads);

/// Tells for every channel the first of those that a translation takes it to. Borrows both.
class TranslatedResolver final : public WrittenResolver<TranslatedResolver> {
 public:
  TranslatedResolver(const Resolver& routes, const Translation& translation)
      : WrittenResolver(routes.places(), routes.switch_channels(), routes.stride()),
        routes_(routes),
        first_(translation.first) {}

  bool tabled() const override { return routes_.tabled(); }
  std::size_t bytes() const override { return routes_.bytes(); }

 private:
  friend WrittenResolver<TranslatedResolver>;

  template <class Id>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Id* channels) const {
    routes_.resolve_drawn(source, target, draw, channels);
    for (Id& channel : std::span(channels, source.size() * stride())) {
      if (channel < first_.size()) channel = static_cast<Id>(first_[channel]);
    }
  }

  const Resolver& routes_;
  const std::vector<ChannelId>& first_;
};

}  // namespace contend
