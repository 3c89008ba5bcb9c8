#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

/// The congestion that simultaneous messages give each other.
struct MessageCongestion {
  /// pi of every message: the largest number of messages on any channel of its route, host channels
  /// included; 0 for a message from a place to itself.
  std::vector<std::uint32_t> congestion;
  /// Messages on every channel: between switches, then injection and ejection by place.
  std::vector<std::uint64_t> channel_messages;
};

/// Judges messages between places one by one. Throws Error when a place does not exist.
/// Cost: as one round of simulate().
MessageCongestion message_congestion(const Resolver& resolver, std::span<const Place> source,
                                     std::span<const Place> target);

}  // namespace contend
