#pragma once

#include <algorithm>
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
  /// `packets` that every message has; 0 for any number, but none of `streams`, which are given
  /// them. Messages of a place take turns, or one is `drawn` for each packet.
  Senders(const PacketRoutes& routes, std::uint32_t packets, bool drawn, bool streams)
      : ends_(streams || packets > 0),
        drawn_(drawn),
        first_(routes.places + 1, 0),
        turn_(routes.places, 0),
        left_(routes.first.size() - 1, packets) {
    const auto place_of = [&](std::size_t m) {
      return routes.cable(routes.channel[routes.first[m]]) - routes.first_injection();
    };
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (routes.travels(m)) ++first_[place_of(m) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    message_.resize(first_.back());
    unsent_.assign(routes.places, 0);
    if (streams) return;
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (!routes.travels(m)) continue;
      const std::uint32_t place = place_of(m);
      message_[first_[place] + unsent_[place]++] = static_cast<std::uint32_t>(m);
    }
  }

  /// A message has so many packets more.
  void begin_again(std::uint32_t message, std::uint32_t place, std::uint32_t packets) {
    if (left_[message] == 0) {
      std::uint32_t* const begin = &message_[first_[place]];
      std::uint32_t* const end = begin + unsent_[place]++;
      std::uint32_t* const at = std::lower_bound(begin, end, message);
      std::copy_backward(at, end, end + 1);
      *at = message;
      // Whose turn it was still has it.
      if (end > begin && at - begin <= turn_[place]) ++turn_[place];
    }
    left_[message] += packets;
  }

  bool has_any(std::uint32_t place) const { return unsent_[place] > 0; }

  /// The message whose packet goes now from a place that has any, of those that `may`; none: no.
  template <class May>
  std::uint32_t next(std::uint32_t place, Random& random, const May& may) {
    const std::uint32_t* const begin = &message_[first_[place]];
    const std::uint32_t count = unsent_[place];
    std::uint32_t& turn = turn_[place];
    if (drawn_) turn = static_cast<std::uint32_t>(random.below(count));
    for (std::uint32_t tried = 0; tried < count; ++tried) {
      const std::uint32_t at = turn;
      const std::uint32_t message = begin[at];
      turn = at + 1 < count ? at + 1 : 0;
      if (!may(message)) continue;
      if (ends_ && --left_[message] == 0) remove(place, at);
      return message;
    }
    return kNone;
  }

 private:
  void remove(std::uint32_t place, std::uint32_t at) {
    std::uint32_t* const begin = &message_[first_[place]];
    std::copy(begin + at + 1, begin + unsent_[place], begin + at);
    --unsent_[place];
    if (turn_[place] > at) --turn_[place];
  }

  bool ends_;
  bool drawn_;
  std::vector<std::uint32_t> first_;    ///< where those of every place begin in `message_`
  std::vector<std::uint32_t> message_;  ///< by place, ascending: those that have packets to send
  std::vector<std::uint32_t> unsent_;   ///< how many these are
  std::vector<std::uint32_t> turn_;     ///< which of them is next
  std::vector<std::uint32_t> left_;     ///< packets of every message
};

}  // namespace contend::packets
