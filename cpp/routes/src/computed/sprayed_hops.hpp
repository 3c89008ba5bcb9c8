#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "contend/base/interruption.hpp"
#include "contend/routes/ways.hpp"

namespace contend {

/// The sprayed shortest ways of make_sprayed_resolver() where `Hops` compute what leads nearer, as
/// for HashedHops: a message splits over the same channels in the same parts. Memory: that of the
/// hops, and two words for each place.
template <class Hops>
class SprayedHops final : public SplittingResolver, private Ways {
 public:
  SprayedHops(const Fabric& fabric, const Places& places, Hops hops)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(hops.longest(fabric, places.hosts), 1), kSprayUnit),
        hops_(std::move(hops)) {
    std::vector<SwitchId> leaves;
    for (const HostId host : places.hosts) leaves.push_back(fabric.host_switch(host));
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    for (const HostId host : places.hosts) {
      const auto found = std::lower_bound(leaves.begin(), leaves.end(), fabric.host_switch(host));
      leaf_.push_back(static_cast<std::uint32_t>(found - leaves.begin()));
    }
    for (const SwitchId leaf : leaves) at_.push_back(hops_.at(leaf));
  }

  std::size_t bytes() const override {
    return hops_.bytes() + leaf_.size() * sizeof(leaf_[0]) + at_.size() * sizeof(At);
  }
  const Ways* ways() const override { return this; }
  std::uint64_t work_of_round() const override { return switch_channels(); }

  bool few() const override { return true; }
  std::size_t leaves() const override { return at_.size(); }
  std::uint32_t leaf_of(Place place) const override { return leaf_[place]; }
  std::size_t classes() const override { return at_.size(); }
  std::uint32_t class_of(Place place) const override { return leaf_[place]; }
  std::uint32_t leaf_of_class(std::size_t number) const override {
    return static_cast<std::uint32_t>(number);
  }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed&) const override {
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      if (messages[number] == 0) return;
      for (const auto& [channel, part] : parts_between(source, target)) {
        load[channel] += messages[number] * part;
      }
    });
  }
  void largest(std::span<const std::uint32_t> messages, const Crossed&,
               std::span<const double> value, std::span<double> largest) const override {
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      if (messages[number] == 0) return;
      largest[number] = 0;
      for (const PartOnChannel& each : parts_between(source, target)) {
        largest[number] = std::max(largest[number], value[each.channel]);
      }
    });
  }
  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    for_each_pair([&](std::uint32_t source, std::uint32_t target, std::size_t number) {
      for (const PartOnChannel& each : parts_between(source, target)) {
        if (each.channel == channel) parts[number] = each.part;
      }
    });
    return parts;
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

  /// Visits all pairs of leaves, with their number among messages.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    std::size_t number = 0;
    for (std::uint32_t target = 0; target < classes(); ++target) {
      check_interruption();
      for (std::uint32_t source = 0; source < leaves(); ++source) visit(source, target, number++);
    }
  }

  Hops hops_;
  std::vector<std::uint32_t> leaf_;  ///< of every place
  std::vector<At> at_;               ///< switch of every leaf
};

}  // namespace contend
