#include "contend/fabric/minimum_cut.hpp"

#include <algorithm>
#include <limits>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {
namespace {

constexpr std::int32_t kUnreached = -1;
/// So many steps between two looks whether the work goes on.
constexpr std::uint64_t kSteps = 1024;

/// Dinic's algorithm over arcs that lie beside each other for every node.
class Flow {
 public:
  Flow(const FlowNetwork& network, std::uint32_t source, std::uint32_t sink)
      : source_(source), sink_(sink), first_(network.nodes + 1, 0), level_(network.nodes) {
    const std::size_t edges = network.tail.size();
    for (std::size_t edge = 0; edge < edges; ++edge) {
      ++first_[network.tail[edge] + 1];
      ++first_[network.head[edge] + 1];
    }
    for (std::size_t node = 0; node < network.nodes; ++node) first_[node + 1] += first_[node];
    to_.resize(2 * edges);
    rest_.resize(2 * edges);
    twin_.resize(2 * edges);
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t edge = 0; edge < edges; ++edge) {
      const std::size_t out = next[network.tail[edge]]++;
      const std::size_t back = next[network.head[edge]]++;
      to_[out] = network.head[edge];
      to_[back] = network.tail[edge];
      rest_[out] = network.limit[edge];
      rest_[back] = 0;
      twin_[out] = back;
      twin_[back] = out;
    }
  }

  void fill() {
    while (find_levels()) {
      check_interruption();
      arc_.assign(first_.begin(), first_.end() - 1);
      block();
    }
  }

  /// Valid after fill(), whose last search did not arrive at the sink.
  std::vector<std::uint8_t> reached() const {
    std::vector<std::uint8_t> near(level_.size());
    std::ranges::transform(level_, near.begin(), [](std::int32_t l) { return l != kUnreached; });
    return near;
  }

 private:
  /// Distances from the source over arcs that have something left; whether the sink is reached.
  bool find_levels() {
    std::ranges::fill(level_, kUnreached);
    level_[source_] = 0;
    queue_.assign(1, source_);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const std::uint32_t node = queue_[at];
      for (std::size_t arc = first_[node]; arc < first_[node + 1]; ++arc) {
        if (rest_[arc] == 0 || level_[to_[arc]] != kUnreached) continue;
        level_[to_[arc]] = level_[node] + 1;
        queue_.push_back(to_[arc]);
      }
    }
    return level_[sink_] != kUnreached;
  }

  /// Fills every shortest way to the sink.
  void block() {
    path_.clear();
    std::uint32_t node = source_;
    for (std::uint64_t step = 0;; ++step) {
      if (step % kSteps == 0) check_interruption();
      if (node == sink_) {
        node = push_along_path();
      } else if (const std::size_t arc = next_arc(node); arc != first_[node + 1]) {
        path_.push_back(arc);
        node = to_[arc];
      } else if (path_.empty()) {
        return;
      } else {
        // Nothing leads on from here: not in this round.
        level_[node] = kUnreached;
        node = to_[twin_[path_.back()]];
        path_.pop_back();
      }
    }
  }

  std::size_t next_arc(std::uint32_t node) {
    std::size_t& arc = arc_[node];
    while (arc != first_[node + 1] && (rest_[arc] == 0 || level_[to_[arc]] != level_[node] + 1)) {
      ++arc;
    }
    return arc;
  }

  /// Takes what the path carries, and goes back to the first node that cannot be left by it now.
  std::uint32_t push_along_path() {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t arc : path_) most = std::min(most, rest_[arc]);
    std::size_t full = path_.size();
    for (std::size_t at = path_.size(); at-- > 0;) {
      rest_[path_[at]] -= most;
      rest_[twin_[path_[at]]] += most;
      if (rest_[path_[at]] == 0) full = at;
    }
    const std::uint32_t node = to_[twin_[path_[full]]];
    path_.resize(full);
    return node;
  }

  std::uint32_t source_;
  std::uint32_t sink_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> to_;
  std::vector<std::int64_t> rest_;
  std::vector<std::size_t> twin_;
  std::vector<std::int32_t> level_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::size_t> arc_;
  std::vector<std::size_t> path_;
};

}  // namespace

std::vector<std::uint8_t> minimum_cut(const FlowNetwork& network, std::uint32_t source,
                                      std::uint32_t sink) {
  const std::size_t edges = network.tail.size();
  if (network.head.size() != edges || network.limit.size() != edges) {
    throw Error("the three arrays of edges must have the same length");
  }
  const auto outside = [&](std::uint32_t node) { return node >= network.nodes; };
  if (outside(source) || outside(sink) || source == sink ||
      std::ranges::any_of(network.tail, outside) || std::ranges::any_of(network.head, outside)) {
    throw Error("edges, source and sink must be nodes, and the source not the sink");
  }
  if (std::ranges::any_of(network.limit, [](std::int64_t limit) { return limit < 0; })) {
    throw Error("what an edge carries cannot be negative");
  }
  Flow flow(network, source, sink);
  flow.fill();
  return flow.reached();
}

}  // namespace contend
