#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "buffers.hpp"
#include "contend/packets/packet_routes.hpp"
#include "contend/packets/random.hpp"

namespace contend::packets {

/// Whose packet goes next from every place.
class Senders {
 public:
  /// `packets` that every message has; 0 for any number. Messages of a place take turns, or one is
  /// `drawn` for each packet.
  Senders(const PacketRoutes& routes, std::uint32_t packets, bool drawn)
      : ends_(packets > 0),
        drawn_(drawn),
        first_(routes.places + 1, 0),
        left_(routes.first.size() - 1, packets) {
    const auto place_of = [&](std::size_t m) {
      return routes.cable(routes.channel[routes.first[m]]) - routes.first_injection();
    };
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (routes.travels(m)) ++first_[place_of(m) + 1];
    }
    unsent_.assign(first_.begin() + 1, first_.end());
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    message_.resize(first_.back());
    turn_.assign(first_.begin(), first_.end() - 1);
    auto at = turn_;
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (routes.travels(m)) message_[at[place_of(m)]++] = static_cast<std::uint32_t>(m);
    }
  }

  /// A message has so many packets more.
  void begin_again(std::uint32_t message, std::uint32_t place, std::uint32_t packets) {
    if (left_[message] == 0) ++unsent_[place];
    left_[message] += packets;
  }

  bool has_any(std::uint32_t place) const { return unsent_[place] > 0; }

  /// The message whose packet goes now from a place that has any, of those that `may`; none: no.
  template <class May>
  std::uint32_t next(std::uint32_t place, Random& random, const May& may) {
    const std::uint32_t begin = first_[place];
    const std::uint32_t end = first_[place + 1];
    std::uint32_t& turn = turn_[place];
    if (drawn_) turn = begin + static_cast<std::uint32_t>(random.below(end - begin));
    const std::uint32_t first = turn;
    do {
      const std::uint32_t message = message_[turn];
      turn = turn + 1 < end ? turn + 1 : begin;
      if ((ends_ && left_[message] == 0) || !may(message)) continue;
      if (ends_ && --left_[message] == 0) --unsent_[place];
      return message;
    } while (turn != first);
    return kNone;
  }

 private:
  bool ends_;
  bool drawn_;
  std::vector<std::uint32_t> first_;    ///< where those of every place begin in `message_`
  std::vector<std::uint32_t> message_;  ///< by place
  std::vector<std::uint32_t> turn_;
  std::vector<std::uint32_t> unsent_;  ///< messages of every place that have packets to send
  std::vector<std::uint32_t> left_;    ///< packets of every message
};

}  // namespace contend::packets
