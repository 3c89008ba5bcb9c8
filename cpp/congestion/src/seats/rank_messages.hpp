#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/congestion/seats.hpp"

namespace contend {

/// A message from the side of one of its two ranks.
struct RankMessage {
  std::uint32_t other;
  std::uint32_t phase;
  double bytes;
  bool sent;  ///< by this rank to the other
};

/// The messages of every rank, those that it gets included; what ranks send themselves is left out.
class RankMessages {
 public:
  /// Throws Error when columns differ in length, or a rank or a phase does not exist.
  explicit RankMessages(const PhasedTraffic& traffic);

  std::size_t ranks() const { return begin_.size() - 1; }
  std::size_t phases() const { return phases_; }
  /// Of all ranks: twice the number of messages.
  std::size_t size() const { return messages_.size(); }
  std::span<const RankMessage> of(std::uint32_t rank) const {
    return {messages_.data() + begin_[rank], begin_[rank + 1] - begin_[rank]};
  }

 private:
  std::size_t phases_;
  std::vector<std::size_t> begin_;
  std::vector<RankMessage> messages_;
};

}  // namespace contend
