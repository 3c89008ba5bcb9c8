#pragma once

#include <cstddef>
#include <vector>

#include "alltoall/blocks.hpp"
#include "alltoall/messages.hpp"
#include "alltoall/nodes.hpp"

namespace contend::probe::alltoall {

/// What the first rank of a node does for all of them in a hierarchical all-to-all.
///
/// Takes memory for all that its node sends and receives, and as much again to put it in order.
class NodeLeader {
 public:
  NodeLeader(const Blocks& blocks, const Nodes& nodes);

  /// Receives what the node's other ranks send.
  void gather();
  /// Exchanges with the other leaders: all that goes from a node to a node is one message.
  void exchange();
  /// Hands out what the node's other ranks receive.
  void scatter();

 private:
  struct Copy {
    const std::byte* from;
    std::byte* to;
    std::size_t bytes;
  };
  struct Range {
    std::size_t begin;
    std::size_t bytes;
  };

  void plan_outgoing(const Nodes& nodes);
  void plan_incoming(const Nodes& nodes);

  Blocks blocks_;
  int node_;
  // The leader of each node.
  std::vector<int> leaders_;
  // The other ranks of this node, and what each sends and receives in all.
  std::vector<int> members_;
  std::vector<Range> sent_;
  std::vector<Range> received_;
  // What goes to each node, and comes from it.
  std::vector<Range> out_;
  std::vector<Range> in_;
  // First what the members sent, in the end what the nodes sent.
  std::vector<std::byte> arriving_;
  // First what goes to the nodes, in the end what goes to the members.
  std::vector<std::byte> leaving_;
  std::vector<Copy> by_node_;
  std::vector<Copy> by_member_;
  Messages messages_;
};

}  // namespace contend::probe::alltoall
