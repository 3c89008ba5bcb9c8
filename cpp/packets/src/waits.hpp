#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contend/packets/packets.hpp"
#include "delay_lines.hpp"

namespace contend::packets {

/// Writes for what messages and channels packets waited longest, and how much of `time` that was.
/// `waited` is by choice.
inline void tell_waits(const PacketRoutes& routes, std::span<const Time> waited, double time,
                       PacketFlows& found) {
  const auto none = static_cast<std::uint32_t>(routes.channels);
  const std::size_t messages = routes.first.size() - 1;
  found.held_up.assign(messages, none);
  found.waited.assign(messages, 0);
  found.then.assign(routes.channels, none);
  std::vector<Time> longest(messages, 0);
  std::vector<std::pair<std::uint64_t, Time>> turns;
  routes.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
    if (waited[choice] == 0) return;
    turns.emplace_back(routes.turn(step, choice), waited[choice]);
    const std::uint32_t m = routes.message[step];
    if (waited[choice] <= longest[m]) return;
    longest[m] = waited[choice];
    found.held_up[m] = routes.channel_by(choice);
    found.waited[m] = static_cast<double>(longest[m]) / time;
  });
  // What all messages waited together, over one channel and on by another.
  std::sort(turns.begin(), turns.end());
  std::vector<Time> most(routes.channels, 0);
  for (std::size_t at = 0; at < turns.size();) {
    const std::uint64_t turn = turns[at].first;
    Time sum = 0;
    for (; at < turns.size() && turns[at].first == turn; ++at) sum += turns[at].second;
    const std::uint64_t from = turn >> 32;
    if (sum <= most[from]) continue;
    most[from] = sum;
    found.then[from] = static_cast<std::uint32_t>(turn);
  }
}

/// What each message waited that came over a watched channel or went on by one. `held`, by step or
/// by choice, sums how long its packets waited. Where a packet in one queue chooses when it is the
/// first, those behind count for its message's choices as the first ones waited for these.
inline void tell_watched(const PacketRoutes& routes, std::span<const Time> waited,
                         std::span<const Time> held, bool by_choice,
                         std::span<const std::uint32_t> watched, double time, PacketFlows& found) {
  std::vector<std::uint8_t> watches(routes.channels, 0);
  for (const std::uint32_t channel : watched) watches[channel] = 1;
  routes.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
    const std::uint32_t over = routes.channel[step];
    const std::uint32_t on = routes.channel_by(choice);
    if (watches[over] == 0 && watches[on] == 0) return;
    const auto first = static_cast<double>(waited[choice]);
    auto packets = static_cast<double>(held[by_choice ? choice : step]);
    if (!by_choice && routes.choices_end(step) - routes.choice_of(step) > 1) {
      double all = 0;
      for (std::uint32_t at = routes.choice_of(step); at < routes.choices_end(step); ++at) {
        all += static_cast<double>(waited[at]);
      }
      packets *= all > 0 ? first / all : 0;
    }
    if (packets > 0) {
      found.waits.push_back({routes.message[step], over, on, first / time, packets / time});
    }
  });
}

}  // namespace contend::packets
