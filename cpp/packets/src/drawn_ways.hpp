#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "buffers.hpp"
#include "contend/packets/packet_routes.hpp"

namespace contend::packets {

/// Ways of packets under way where detours draw them. The steps of a way stand together and are
/// used again when its packet has come.
class DrawnWays {
 public:
  explicit DrawnWays(const PacketRoutes& routes)
      : routes_(routes), stride_(static_cast<std::uint32_t>(routes.detours->longest())) {
    drawn_.resize(2 * std::size_t{stride_});
  }

  /// All steps, those of ways that end included.
  std::size_t steps() const { return channel_.size(); }
  const std::uint32_t* channel() const { return channel_.data(); }
  std::uint32_t message_of(std::uint32_t step) const { return owner_[step / stride_]; }
  bool begins(std::uint32_t step) const { return step % stride_ == 0; }

  /// The first step of a packet that leaves its host. It has no way yet but to come.
  std::uint32_t start(std::uint32_t message) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(owner_.size()));
      owner_.push_back(kNone);
      channel_.resize(channel_.size() + stride_);
    }
    const std::uint32_t way = free_.back();
    free_.pop_back();
    owner_[way] = message;
    const std::uint32_t first = routes_.first[message];
    const std::uint32_t step = way * stride_;
    channel_[step] = routes_.channel[first];
    channel_[step + 1] = routes_.channel[first + 1];
    return step;
  }

  /// Draws the way of a packet that has come over its first step.
  template <class Waiting>
  void draw(std::uint32_t step, Random& random, const Waiting& waiting) {
    const auto [in, out] = routes_.ports(message_of(step));
    const std::uint32_t* const end = routes_.detours->draw(in, out, random, waiting, drawn_.data());
    std::copy(static_cast<const std::uint32_t*>(drawn_.data()), end, channel_.begin() + step + 1);
  }

  /// A packet has come, or none other will: calls left(message, step) for every step that it left.
  template <class Left>
  void end(std::uint32_t of_step, const Left& left) {
    const std::uint32_t way = of_step / stride_;
    std::uint32_t step = way * stride_;
    for (; routes_.cable(channel_[step]) < routes_.first_ejection(); ++step) {
      left(owner_[way], step);
    }
    owner_[way] = kNone;
    free_.push_back(way);
  }
  template <class Left>
  void end_all(const Left& left) {
    for (std::uint32_t way = 0; way < owner_.size(); ++way) {
      if (owner_[way] != kNone) end(way * stride_, left);
    }
  }

 private:
  const PacketRoutes& routes_;
  std::uint32_t stride_;
  std::vector<std::uint32_t> drawn_;
  std::vector<std::uint32_t> channel_;  ///< by step
  std::vector<std::uint32_t> owner_;    ///< message by way
  std::vector<std::uint32_t> free_;
};

}  // namespace contend::packets
