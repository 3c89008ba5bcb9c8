#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/error.hpp"
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
  explicit RankMessages(const PhasedTraffic& traffic)
      : phases_(traffic.phases), begin_(traffic.ranks + 1, 0) {
    const std::size_t count = traffic.source.size();
    if (traffic.target.size() != count || traffic.phase.size() != count ||
        traffic.bytes.size() != count) {
      throw Error("as many targets, phases and sizes as sources");
    }
    for (std::size_t m = 0; m < count; ++m) {
      if (std::max(traffic.source[m], traffic.target[m]) >= traffic.ranks) {
        throw Error("ranks below the number of ranks");
      }
      if (traffic.phase[m] >= phases_) throw Error("phases below the number of phases");
      if (traffic.source[m] == traffic.target[m]) continue;
      ++begin_[traffic.source[m] + 1];
      ++begin_[traffic.target[m] + 1];
    }
    for (std::size_t r = 0; r < traffic.ranks; ++r) begin_[r + 1] += begin_[r];
    messages_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t m = 0; m < count; ++m) {
      const std::uint32_t source = traffic.source[m];
      const std::uint32_t target = traffic.target[m];
      if (source == target) continue;
      messages_[next[source]++] = {target, traffic.phase[m], traffic.bytes[m], true};
      messages_[next[target]++] = {source, traffic.phase[m], traffic.bytes[m], false};
    }
  }

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
