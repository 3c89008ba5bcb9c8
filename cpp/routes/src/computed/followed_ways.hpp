#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/progress.hpp"
#include "contend/routes/ways/ways.hpp"

namespace contend {

/// Sprayed shortest ways that a formula gives: every two leaves have ways of their own, which are
/// followed when they are asked for. Those who follow say parts_between().
class FollowedWays : public SplittingResolver, protected Ways {
 public:
  /// `longest`: channels that a way between some places crosses at most.
  FollowedWays(const Fabric& fabric, const Places& places, std::size_t longest)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(longest, 1), kSprayUnit) {
    for (const HostId host : places.hosts) switches_.push_back(fabric.host_switch(host));
    std::sort(switches_.begin(), switches_.end());
    switches_.erase(std::unique(switches_.begin(), switches_.end()), switches_.end());
    for (const HostId host : places.hosts) {
      const auto found =
          std::lower_bound(switches_.begin(), switches_.end(), fabric.host_switch(host));
      leaf_.push_back(static_cast<std::uint32_t>(found - switches_.begin()));
    }
  }

  std::size_t bytes() const override {
    return leaf_.size() * sizeof(leaf_[0]) + switches_.size() * sizeof(SwitchId);
  }
  const Ways* ways() const final { return this; }
  std::uint64_t work_of_round() const final { return switch_channels(); }

  /// Where a round has as many messages as there are pairs, each pair is followed once.
  std::uint64_t most_followed() const override { return std::uint64_t{leaves()} * leaves(); }
  std::size_t leaves() const final { return switches_.size(); }
  std::uint32_t leaf_of(Place place) const final { return leaf_[place]; }
  std::size_t classes() const final { return switches_.size(); }
  std::uint32_t class_of(Place place) const final { return leaf_[place]; }
  std::uint32_t leaf_of_class(std::size_t number) const final {
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

 protected:
  /// That of every leaf.
  std::span<const SwitchId> switches() const { return switches_; }

 private:
  /// Visits all pairs of leaves, with their number among messages.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    std::size_t number = 0;
    for (const std::uint32_t target : InParts(static_cast<std::uint32_t>(classes()))) {
      for (std::uint32_t source = 0; source < leaves(); ++source) visit(source, target, number++);
    }
  }

  std::vector<SwitchId> switches_;   ///< of every leaf
  std::vector<std::uint32_t> leaf_;  ///< of every place
};

}  // namespace contend
