#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "followed_ways.hpp"

namespace contend {

/// The sprayed shortest ways of make_sprayed_resolver() where `Hops` compute what leads nearer, as
/// for HashedHops: a message splits over the same channels in the same parts. Memory: that of the
/// hops, and two words for each place.
template <class Hops>
class SprayedHops final : public FollowedWays {
 public:
  SprayedHops(const Fabric& fabric, const Places& places, Hops hops)
      : FollowedWays(fabric, places, hops.longest(fabric, places.hosts)), hops_(std::move(hops)) {
    for (const SwitchId leaf : switches()) at_.push_back(hops_.at(leaf));
  }

  std::size_t bytes() const override {
    return FollowedWays::bytes() + hops_.bytes() + at_.size() * sizeof(At);
  }

  /// From switches as far from the target as each other to those nearer by a cable.
  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<PartOnChannel> parts;
    if (source == target) return parts;
    const At end = at_[target];
    std::vector<PartOnSwitch> here{{at_[source], 1}}, nearer;
    typename Hops::Ways ways;
    while (!here.empty()) {
      nearer.clear();
      for (const PartOnSwitch& from : here) {
        hops_.find(from.at, end, ways);
        const double each = from.part / static_cast<double>(ways.size());
        for (const auto way : ways) {
          const auto step = hops_.step(from.at, way);
          parts.push_back({step.channel, each});
          if (step.to == end) continue;
          const auto met = std::find_if(nearer.begin(), nearer.end(),
                                        [&](const PartOnSwitch& s) { return s.at == step.to; });
          if (met != nearer.end()) {
            met->part += each;
          } else {
            nearer.push_back({step.to, each});
          }
        }
      }
      here.swap(nearer);
    }
    return parts;
  }

 private:
  using At = typename Hops::At;
  struct PartOnSwitch {
    At at;
    double part;
  };

  Hops hops_;
  std::vector<At> at_;  ///< switch of every leaf
};

}  // namespace contend
