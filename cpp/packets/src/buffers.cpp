#include "buffers.hpp"

#include <algorithm>

#include "contend/base/error.hpp"

namespace contend::packets {

namespace {

std::size_t checked_channels(const PacketRoutes& routes) {
  const std::uint64_t channels = std::uint64_t{routes.channels} * routes.lanes;
  if (channels >= kNone) throw Error("fewer than 2^32 channels on all lanes together");
  return channels;
}

}  // namespace

Buffers::Buffers(const PacketRoutes& routes, std::uint32_t room, bool by_output)
    : detours_(routes.detours.get()), by_output_(by_output), channels_(checked_channels(routes)) {
  make_queues(routes);
  for (std::uint32_t c = 0; c < size(); ++c) {
    channels_[c].room = room > 0 && routes.cable(c) < routes.first_ejection() ? room : kNone;
  }
}

/// One for each two channels that packets cross one after the other.
void Buffers::make_queues(const PacketRoutes& routes) {
  if (!by_output_) return;
  if (detours_ != nullptr) {
    // The lane that a packet goes on by follows from the channels.
    for (std::uint32_t c = 0; c < size(); ++c) {
      first_queue_.push_back(static_cast<std::uint32_t>(queues_.size()));
      if (routes.cable(c) >= routes.first_ejection()) continue;
      queues_.resize(queues_.size() + detours_->ways_on(routes.cable(c)));
      for (std::size_t q = first_queue_[c]; q < queues_.size(); ++q) queues_[q].over = c;
    }
    return;
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> turns;
  routes.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
    turns.emplace_back(routes.turn(step, choice), choice);
  });
  std::sort(turns.begin(), turns.end());
  queue_of_.resize(routes.choices(), kNone);
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [turn, choice] : turns) {
    if (turn != last) queues_.emplace_back().over = static_cast<std::uint32_t>(turn >> 32);
    last = turn;
    queue_of_[choice] = static_cast<std::uint32_t>(queues_.size() - 1);
  }
}

}  // namespace contend::packets
