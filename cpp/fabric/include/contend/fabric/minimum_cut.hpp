#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// A directed network whose edges carry at most a limit, in whole units.
struct FlowNetwork {
  std::uint32_t nodes = 0;
  std::span<const std::uint32_t> tail;
  std::span<const std::uint32_t> head;
  std::span<const std::int64_t> limit;
};

/// The side of the source in the minimum cut between two nodes: 1 for every node that the source
/// still reaches when the flow is largest. Of several minimum cuts it is the one nearest to the
/// source, whatever the flow.
///
/// Dinic's algorithm: O(nodes^2 edges) at worst, near O(edges) a round in practice.
/// Throws Error for ends that are no nodes, negative limits, or a source that is the sink.
std::vector<std::uint8_t> minimum_cut(const FlowNetwork& network, std::uint32_t source,
                                      std::uint32_t sink);

}  // namespace contend
