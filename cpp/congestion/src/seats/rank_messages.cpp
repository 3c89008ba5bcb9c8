#include "rank_messages.hpp"

#include <algorithm>

#include "contend/base/error.hpp"

namespace contend {

RankMessages::RankMessages(const PhasedTraffic& traffic)
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

}  // namespace contend
