#pragma once

#include <cstdint>
#include <vector>

#include "buffers.hpp"

namespace contend::packets {

/// Channels whose packets wait for each other for ever, each for the next; empty where there are
/// none. A channel is stuck whose far end is full of packets that all wait for stuck channels.
/// Every lane of a channel is one of them here, `links` behind each other. `moves`: 1 for those
/// over which something still comes that may leave. Packets leave from the far ends of channels
/// below `ends`.
std::vector<std::uint32_t> waiting_circle(const Buffers& channels, std::vector<std::uint8_t> moves,
                                          std::uint32_t links, std::uint32_t ends);

}  // namespace contend::packets
