#include "circle.hpp"

#include <algorithm>

namespace contend::packets {

std::vector<std::uint32_t> waiting_circle(const Buffers& channels, std::vector<std::uint8_t> moves,
                                          std::uint32_t links, std::uint32_t ends) {
  std::vector<std::uint32_t> waits_for(channels.size(), kNone);
  std::vector<std::uint8_t> stuck(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    stuck[c] = channels[c].room == 0 && channels[c % links].carries == kNone;
    if (c < ends && channels[c].carries != kNone) moves[channels.over(channels[c].carries)] = 1;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      for (std::uint32_t q = channels[c].waiting.first; q != kNone; q = channels.queue(q).behind) {
        if (stuck[c]) {
          waits_for[channels.over(q)] = c;
        } else {
          moves[channels.over(q)] = 1;
        }
      }
    }
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      if (!stuck[c] || (!moves[c] && waits_for[c] != kNone)) continue;
      stuck[c] = 0;
      changed = true;
    }
  }
  const auto any = std::find(stuck.begin(), stuck.end(), 1);
  if (any == stuck.end()) return {};
  // From any stuck channel on one comes to a circle.
  std::vector<std::uint32_t> way;
  std::vector<std::uint8_t> seen(channels.size(), 0);
  auto c = static_cast<std::uint32_t>(any - stuck.begin());
  for (; !seen[c]; c = waits_for[c]) {
    seen[c] = 1;
    way.push_back(c);
  }
  std::vector<std::uint32_t> circle(std::find(way.begin(), way.end(), c), way.end());
  for (std::uint32_t& channel : circle) channel %= links;
  return circle;
}

}  // namespace contend::packets
