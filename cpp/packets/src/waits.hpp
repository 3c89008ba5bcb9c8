#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "contend/packets/packets.hpp"
#include "delay_lines.hpp"

namespace contend::packets {

/// How long packets of a message waited at the far end of a channel for another one.
struct Wait {
  std::uint32_t message;
  std::uint32_t over;
  std::uint32_t wanted;
  Time time;  ///< of those that were the first there
  Time held;  ///< of all in the buffer, where channels are watched
};

/// Sorts them by message and channel, and makes one of those that have all in common.
inline void join_waits(std::vector<Wait>& waits) {
  const auto key = [](const Wait& wait) { return std::tie(wait.message, wait.wanted, wait.over); };
  std::sort(waits.begin(), waits.end(),
            [&](const Wait& one, const Wait& other) { return key(one) < key(other); });
  std::size_t last = 0;
  for (std::size_t at = 1; at < waits.size(); ++at) {
    if (key(waits[at]) == key(waits[last])) {
      waits[last].time += waits[at].time;
      waits[last].held += waits[at].held;
    } else {
      waits[++last] = waits[at];
    }
  }
  if (!waits.empty()) waits.resize(last + 1);
}

/// Writes for what messages and channels packets waited longest, and how much of `time` that was.
/// Waits come joined, and are changed.
inline void tell_waits(std::vector<Wait>& waits, std::uint32_t channels, double time,
                       PacketFlows& found) {
  const std::size_t messages = found.share.size();
  found.held_up.assign(messages, channels);
  found.waited.assign(messages, 0);
  found.then.assign(channels, channels);
  std::vector<Time> longest(messages, 0);
  for (const Wait& wait : waits) {
    if (wait.time <= longest[wait.message]) continue;
    longest[wait.message] = wait.time;
    found.held_up[wait.message] = wait.wanted;
    found.waited[wait.message] = static_cast<double>(wait.time) / time;
  }
  // What all messages waited together, over one channel and on by another.
  for (Wait& wait : waits) wait.message = 0;
  join_waits(waits);
  std::vector<Time> most(channels, 0);
  for (const Wait& wait : waits) {
    if (wait.time <= most[wait.over]) continue;
    most[wait.over] = wait.time;
    found.then[wait.over] = wait.wanted;
  }
}

/// What each message waited that came over a watched channel or went on by one.
inline void tell_watched(std::span<const Wait> waits, std::span<const std::uint32_t> watched,
                         std::uint32_t channels, double time, PacketFlows& found) {
  std::vector<std::uint8_t> watches(channels, 0);
  for (const std::uint32_t channel : watched) watches[channel] = 1;
  for (const Wait& wait : waits) {
    if ((watches[wait.over] == 0 && watches[wait.wanted] == 0) || wait.held == 0) continue;
    found.waits.push_back({wait.message, wait.over, wait.wanted,
                           static_cast<double>(wait.time) / time,
                           static_cast<double>(wait.held) / time});
  }
}

}  // namespace contend::packets
