#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// Messages that are under way over every channel at once: what may pile up in front of it.
class Crowds {
 public:
  explicit Crowds(std::size_t channels) : now_(channels), most_(channels), most_bytes_(channels) {}

  void join(std::span<const std::uint32_t> channels, double bytes) {
    for (const std::uint32_t channel : channels) {
      Crowd& crowd = now_[channel];
      ++crowd.messages;
      crowd.bytes += bytes;
      if (crowd.bytes <= most_bytes_[channel]) continue;
      most_[channel] = crowd.messages;
      most_bytes_[channel] = crowd.bytes;
    }
  }
  void leave(std::span<const std::uint32_t> channels, double bytes) {
    for (const std::uint32_t channel : channels) {
      --now_[channel].messages;
      now_[channel].bytes -= bytes;
    }
  }

  /// How many there were when they had most bytes, and those bytes.
  const std::vector<std::uint32_t>& most() const { return most_; }
  const std::vector<double>& most_bytes() const { return most_bytes_; }

 private:
  struct Crowd {
    std::uint32_t messages = 0;
    double bytes = 0;
  };

  std::vector<Crowd> now_;
  std::vector<std::uint32_t> most_;
  std::vector<double> most_bytes_;
};

}  // namespace contend
