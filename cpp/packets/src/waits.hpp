#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "buffers.hpp"
#include "contend/packets/packets.hpp"
#include "drawn_ways.hpp"

namespace contend::packets {

/// How long packets waited, by message and by the channels that they came over and went on by.
class Waits {
 public:
  /// With `watched` channels also how long all packets were in buffers.
  Waits(const PacketRoutes& routes, bool by_output, std::span<const std::uint32_t> watched)
      : routes_(routes), by_output_(by_output), watched_(watched) {
    if (routes.detours != nullptr) return;
    first_.resize(routes.choices(), 0);
    if (watches()) held_.resize(by_output ? routes.choices() : routes.channel.size(), 0);
  }

  bool watches() const { return !watched_.empty(); }
  /// Makes place for steps of detours.
  void resize(std::size_t steps) {
    if (steps == first_.size()) return;
    first_.resize(steps, 0);
    if (watches()) held_.resize(steps, 0);
  }

  /// A packet was the next at the far end of a channel, and waited.
  void add(std::uint32_t choice, Time time) { first_[choice] += time; }
  void fetch(std::uint32_t choice) const { prefetch(&first_[choice]); }

  // Of a packet that is still there, the difference is the time.

  void come(std::uint32_t packet, Time now) { held_[packet] -= now; }
  void leave(std::uint32_t choice, Time now) { held_[packet_by(choice)] += now; }

  /// A packet left a step of its detour, which another one uses from now on.
  void end_step(std::uint32_t message, const std::uint32_t* channel, std::uint32_t step,
                bool measured) {
    if (measured) keep(message, channel[step], channel[step + 1], first_[step], held(step));
    first_[step] = 0;
    if (watches()) held_[step] = 0;
    if (waits_.size() < most_) return;
    join(waits_);
    most_ = std::max(most_, 2 * waits_.size());
  }

  /// Adds what waits until the end of a time, and was there since its beginning at most.
  void end(const Buffers& buffers, Time begin, Time until);
  /// Writes for what messages and channels packets waited longest, and how much of `time` that was;
  /// what waited at watched channels; and which channels packets by detours crossed.
  void tell(double time, PacketFlows& found);

 private:
  struct Wait {
    std::uint32_t message;
    std::uint32_t over;
    std::uint32_t wanted;
    Time time;  ///< of those that were the first there
    Time held;  ///< of all in the buffer, where channels are watched
  };

  Time held(std::uint32_t packet) const { return watches() ? held_[packet] : 0; }
  void keep(std::uint32_t message, std::uint32_t over, std::uint32_t wanted, Time time, Time held) {
    waits_.push_back({message, routes_.cable(over), routes_.cable(wanted), time, held});
  }
  /// The packet that chose so.
  std::uint32_t packet_by(std::uint32_t choice) const {
    if (by_output_ || !routes_.chooses()) return choice;
    const auto& first = routes_.first_choice;
    const auto behind = std::upper_bound(first.begin(), first.end(), choice);
    return static_cast<std::uint32_t>(behind - first.begin() - 1);
  }
  Time held_for(std::uint32_t step, std::uint32_t choice) const;
  static void join(std::vector<Wait>& waits);

  const PacketRoutes& routes_;
  const bool by_output_;
  const std::span<const std::uint32_t> watched_;
  LargeArray<Time> first_;  ///< by choice
  std::vector<Time> held_;  ///< by step; by choice with a queue for every output
  std::vector<Wait> waits_;
  std::size_t most_ = std::size_t{1} << 20;
};

}  // namespace contend::packets
