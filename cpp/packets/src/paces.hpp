#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/packets/packets.hpp"
#include "delay_lines.hpp"

namespace contend::packets {

inline Time ticks(double seconds) {
  return static_cast<Time>(std::llround(seconds * kTicksPerSecond));
}

/// How long packets, and word of room, are under way. Channels of a kind are alike in rate, faster
/// ones last, and in the time of flight.
class Paces {
 public:
  /// Of packets of so many bytes.
  Paces(const PacketModel& model, double bytes, std::span<const double> rate, std::size_t channels,
        DelayLines& lines) {
    if (rate.size() != channels) throw Error("a rate for every channel");
    if (!model.flight.empty() && model.flight.size() != channels) {
      throw Error("a time for every cable");
    }
    using Kind = std::pair<double, Time>;
    const auto kind_of = [&](std::size_t c) {
      return Kind{rate[c], model.flight.empty() ? 0 : ticks(model.flight[c])};
    };
    std::vector<Kind> kinds;
    for (std::size_t c = 0; c < channels; ++c) {
      if (kinds.empty() || kinds.back() != kind_of(c)) kinds.push_back(kind_of(c));
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (!kinds.empty() && !(kinds.front().first > 0)) throw Error("rates above 0");
    for (std::size_t c = 0; c < channels; ++c) {
      const auto kind = std::lower_bound(kinds.begin(), kinds.end(), kind_of(c));
      kind_.push_back(static_cast<std::uint32_t>(kind - kinds.begin()));
    }
    for (const Kind& kind : kinds) takes_.push_back(ticks(bytes / kind.first));
    for (const Time taken : takes_) sent_.push_back(lines.add(taken));
    const Time latency = ticks(model.latency);
    for (std::size_t over = 0; over < kinds.size(); ++over) {
      const Time flight = kinds[over].second;
      for (const Time then : takes_) {
        // A faster channel must not run out of bits before the packet has all come.
        const Time behind = takes_[over] > then ? takes_[over] - then : 0;
        arrival_.push_back(lines.add(flight + latency + behind));
      }
      credit_.push_back(flight > 0 ? lines.add(flight) : 0);
      in_flight_.push_back(static_cast<std::uint32_t>((flight + takes_[over] - 1) / takes_[over]));
    }
  }

  std::uint32_t kinds() const { return static_cast<std::uint32_t>(takes_.size()); }
  std::uint32_t of(std::uint32_t channel) const { return kind_[channel]; }

  // By kind.

  Time takes(std::uint32_t kind) const { return takes_[kind]; }
  /// Packets that begin in the time of flight.
  std::uint32_t in_flight(std::uint32_t kind) const { return in_flight_[kind]; }
  // Lines of events: a packet has left, has come to go on by a channel of a kind, and word of room.
  std::uint32_t sent_line(std::uint32_t kind) const { return sent_[kind]; }
  std::uint32_t arrival_line(std::uint32_t kind, std::uint32_t then) const {
    return arrival_[std::size_t{kind} * takes_.size() + then];
  }
  std::uint32_t credit_line(std::uint32_t kind) const { return credit_[kind]; }

 private:
  std::vector<std::uint32_t> kind_;  ///< by channel
  std::vector<Time> takes_;
  std::vector<std::uint32_t> sent_;
  std::vector<std::uint32_t> arrival_;
  std::vector<std::uint32_t> credit_;
  std::vector<std::uint32_t> in_flight_;
};

}  // namespace contend::packets
