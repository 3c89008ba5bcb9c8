#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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
        place_(routes.places),
        left_(routes.first.size() - 1, packets) {
    const auto place_of = [&](std::size_t m) -> Place& {
      return place_[routes.cable(routes.channel[routes.first[m]]) - routes.first_injection()];
    };
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (routes.travels(m)) ++place_of(m).unsent;
    }
    std::uint32_t first = 0;
    for (Place& place : place_) {
      place.first = first;
      first += std::exchange(place.unsent, 0);
    }
    message_.resize(first);
    if (streams) return;
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (!routes.travels(m)) continue;
      Place& place = place_of(m);
      message_[place.first + place.unsent++] = static_cast<std::uint32_t>(m);
    }
  }

  /// A message has so many packets more.
  void begin_again(std::uint32_t message, std::uint32_t of_place, std::uint32_t packets) {
    if (left_[message] == 0) {
      Place& place = place_[of_place];
      std::uint32_t* const begin = &message_[place.first];
      std::uint32_t* const end = begin + place.unsent++;
      std::uint32_t* const at = std::lower_bound(begin, end, message);
      std::copy_backward(at, end, end + 1);
      *at = message;
      // Whose turn it was still has it.
      if (end > begin && at - begin <= place.turn) ++place.turn;
    }
    left_[message] += packets;
  }

  bool has_any(std::uint32_t place) const { return place_[place].unsent > 0; }

  /// The message whose packet goes now from a place that has any, of those that `may`; none: no.
  template <class May>
  std::uint32_t next(std::uint32_t of_place, Random& random, const May& may) {
    Place& place = place_[of_place];
    const std::uint32_t* const begin = &message_[place.first];
    const std::uint32_t count = place.unsent;
    std::uint32_t& turn = place.turn;
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

  // Fetch memory for later.

  void fetch(std::uint32_t place) const { prefetch(&place_[place]); }
  void fetch_message(std::uint32_t place) const { prefetch(message_.data() + next_of(place)); }
  /// The message that is likely to be the next from a place that has any.
  std::uint32_t likely(std::uint32_t place) const { return message_[next_of(place)]; }
  void fetch_left(std::uint32_t message) const { prefetch(&left_[message]); }

 private:
  /// A place's messages that have packets to send, and which of them is next.
  struct Place {
    std::uint32_t first = 0;  ///< where they begin in `message_`
    std::uint32_t unsent = 0;
    std::uint32_t turn = 0;
  };

  std::size_t next_of(std::uint32_t place) const {
    return place_[place].first + place_[place].turn;
  }

  void remove(Place& place, std::uint32_t at) {
    std::uint32_t* const begin = &message_[place.first];
    std::copy(begin + at + 1, begin + place.unsent, begin + at);
    --place.unsent;
    if (place.turn > at) --place.turn;
  }

  bool ends_;
  bool drawn_;
  std::vector<Place> place_;
  std::vector<std::uint32_t> message_;  ///< by place, ascending
  std::vector<std::uint32_t> left_;     ///< packets of every message
};

}  // namespace contend::packets
