#pragma once

#include <cstdint>
#include <vector>

#include "crossings.hpp"

namespace contend {

/// Shares channels of rate 1 out among the messages under way, max-min fairly.
class WaterFilling {
 public:
  explicit WaterFilling(const Crossings& crossings);

  /// Messages under way; at first all that cross a channel.
  const std::vector<std::uint32_t>& under_way() const { return under_way_; }
  /// Their shares, by message; those of others are what they last were, or 1.
  const std::vector<double>& shares() const { return share_; }

  /// Finds the shares of the messages under way.
  void fill();
  /// Keeps those messages under way for which `stays(message)`.
  template <class Stays>
  void keep(Stays stays) {
    std::erase_if(under_way_, [&](std::uint32_t message) { return !stays(message); });
  }

 private:
  struct Channel {
    double left = 1;
    std::uint32_t waiting = 0;  ///< messages whose share is not found yet
    double level() const { return left / waiting; }
  };
  struct Entry {
    double level;
    std::uint32_t channel;
    bool operator>(const Entry& other) const { return level > other.level; }
  };

  void start();
  void saturate(std::uint32_t channel, double level);

  const Crossings& crossings_;
  std::vector<std::size_t> begin_;  ///< where the messages of a channel are in message_
  std::vector<std::uint32_t> message_;
  std::vector<std::uint32_t> under_way_;
  std::vector<double> share_;
  std::vector<std::uint8_t> waits_;
  std::vector<Channel> channel_;
  std::vector<Entry> heap_;
};

}  // namespace contend
