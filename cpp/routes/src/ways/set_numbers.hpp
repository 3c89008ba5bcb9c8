#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/base/mixed.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

inline constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

/// Finds the number of something among what is known by its key, or kFar.
template <class Same>
std::uint32_t find_known(const std::unordered_multimap<std::uint64_t, std::uint32_t>& known,
                         std::uint64_t key, const Same& same) {
  const auto [begin, end] = known.equal_range(key);
  for (auto it = begin; it != end; ++it) {
    if (same(it->second)) return it->second;
  }
  return kFar;
}

/// Finds the number of a set of channels among those that are there, or adds it.
class SetNumbers {
 public:
  explicit SetNumbers(NextHops& next) : next_(next) {}

  /// `guess` is the number of a set that it may well be.
  std::uint32_t number(const std::vector<ChannelId>& channels, std::uint32_t guess = 0) {
    const auto same = [&](std::uint32_t set) {
      const std::span<const ChannelId> there = next_.of_set(set);
      return std::equal(channels.begin(), channels.end(), there.begin(), there.end());
    };
    if (same(guess)) return guess;
    if (channels.empty()) return 0;
    std::uint64_t key = channels.size();
    for (const ChannelId channel : channels) key = mixed(key ^ channel) + 1;
    const std::uint32_t known = find_known(known_, key, same);
    if (known != kFar) return known;
    const auto set = static_cast<std::uint32_t>(next_.first.size() - 1);
    next_.members.insert(next_.members.end(), channels.begin(), channels.end());
    next_.first.push_back(static_cast<std::uint32_t>(next_.members.size()));
    known_.emplace(key, set);
    return set;
  }

  /// By set of others: its number among these, those that are new in their order.
  std::vector<std::uint32_t> numbers(const NextHops& others) {
    std::vector<std::uint32_t> found{0};
    std::vector<ChannelId> channels;
    for (std::uint32_t set = 1; set + 1 < others.first.size(); ++set) {
      const std::span<const ChannelId> members = others.of_set(set);
      channels.assign(members.begin(), members.end());
      found.push_back(number(channels));
    }
    return found;
  }

 private:
  NextHops& next_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

/// Switches on which some hosts hang, ascending.
inline std::vector<SwitchId> leaves_of(const Fabric& fabric, std::span<const HostId> hosts) {
  std::vector<SwitchId> leaves;
  for (const HostId host : hosts) leaves.push_back(fabric.host_switch(host));
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace contend
