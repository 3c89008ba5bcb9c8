#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "buffers.hpp"
#include "contend/packets/packet_routes.hpp"

namespace contend::packets {

/// Pairs of messages of opposite ends, the next of which begins when both have come whole.
class Exchanges {
 public:
  explicit Exchanges(const PacketRoutes& routes)
      : partner_(routes.first.size() - 1, kNone),
        begun_(partner_.size(), 0),
        exchanged_(partner_.size(), 0) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_ends;
    for (std::uint32_t m = 0; m < partner_.size(); ++m) {
      if (!routes.travels(m)) continue;
      const auto [in, out] = routes.ports(m);
      const auto other = by_ends.find({out, in});
      if (other == by_ends.end()) {
        by_ends[{in, out}] = m;
        continue;
      }
      partner_[m] = other->second;
      partner_[other->second] = m;
      by_ends.erase(other);
    }
  }

  /// The message that goes the other way; kNone: there is none.
  std::uint32_t partner(std::uint32_t message) const { return partner_[message]; }

  /// Both have come. Of the exchange in which measuring began, the part behind counts.
  void end(std::uint32_t message, Time now, Time measured_from) {
    const std::uint32_t other = partner_[message];
    const Time begun = begun_[message];
    const Time since = std::max(measured_from, begun);
    const double part =
        now > since ? static_cast<double>(now - since) / static_cast<double>(now - begun) : 0;
    for (const std::uint32_t one : {message, other}) {
      if (one == kNone) continue;
      exchanged_[one] += part;
      begun_[one] = now;
    }
  }

  /// Of a message since measuring began, and when its present exchange began.
  double exchanged(std::size_t message) const { return exchanged_[message]; }
  Time begun(std::size_t message) const { return begun_[message]; }

 private:
  std::vector<std::uint32_t> partner_;
  std::vector<Time> begun_;
  std::vector<double> exchanged_;
};

}  // namespace contend::packets
