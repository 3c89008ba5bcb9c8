#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "alltoall/algorithm.hpp"
#include "alltoall/blocks.hpp"
#include "alltoall/messages.hpp"
#include "alltoall/parameters.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

// Bytes that a rank sends to all, or receives from all.
std::size_t total(const Blocks& blocks, int rank, bool sends) {
  std::size_t bytes = 0;
  for (int other = 0; other < blocks.ranks(); ++other) {
    bytes += sends ? blocks.counts().of(rank, other) : blocks.counts().of(other, rank);
  }
  return bytes;
}

// Bytes from all ranks of one list to all of another.
std::size_t total(const Counts& counts, const std::vector<int>& from, const std::vector<int>& to) {
  std::size_t bytes = 0;
  for (const int source : from) {
    for (const int destination : to) {
      bytes += counts.of(source, destination);
    }
  }
  return bytes;
}

/// What the first rank of a node does for all of them in a hierarchical all-to-all.
///
/// Takes memory for all that its node sends and receives, and as much again to put it in order.
class NodeLeader {
 public:
  NodeLeader(const Blocks& blocks, const Nodes& nodes)
      : blocks_(blocks),
        node_(nodes.of_rank[static_cast<std::size_t>(blocks.rank())]),
        messages_(nodes.ranks[static_cast<std::size_t>(node_)].size()) {
    const std::vector<int>& here = nodes.ranks[static_cast<std::size_t>(node_)];
    members_.assign(here.begin() + 1, here.end());
    std::size_t sent = 0;
    std::size_t received = 0;
    for (const int member : members_) {
      sent_.push_back({sent, total(blocks, member, true)});
      received_.push_back({received, total(blocks, member, false)});
      sent += sent_.back().bytes;
      received += received_.back().bytes;
    }
    std::size_t out = 0;
    std::size_t in = 0;
    for (const std::vector<int>& there : nodes.ranks) {
      leaders_.push_back(there.front());
      out_.push_back({out, total(blocks.counts(), here, there)});
      in_.push_back({in, total(blocks.counts(), there, here)});
      out += out_.back().bytes;
      in += in_.back().bytes;
    }
    arriving_.resize(std::max(sent, in));
    leaving_.resize(std::max(out, received));
    plan_outgoing(nodes);
    plan_incoming(nodes);
  }

  /// Receives what the node's other ranks send.
  void gather() {
    for (std::size_t member = 0; member < members_.size(); ++member) {
      if (const auto [begin, bytes] = sent_[member]; bytes != 0) {
        messages_.add(
            receive_bytes(arriving_.data() + begin, bytes, members_[member], kTag, blocks_.comm()));
      }
    }
    messages_.finish();
    for (const Copy& copy : by_node_) {
      std::copy_n(copy.from, copy.bytes, copy.to);
    }
  }

  /// Exchanges with the other leaders: all that goes from a node to a node is one message.
  void exchange() {
    const int nodes = static_cast<int>(leaders_.size());
    for (int places = 0; places < nodes; ++places) {
      const auto to = static_cast<std::size_t>((node_ + places) % nodes);
      const auto from = static_cast<std::size_t>((node_ - places + nodes) % nodes);
      const std::byte* out = leaving_.data() + out_[to].begin;
      std::byte* in = arriving_.data() + in_[from].begin;
      if (places == 0) {
        std::copy_n(out, out_[to].bytes, in);
        continue;
      }
      send_and_receive_bytes(out, out_[to].bytes,
                             out_[to].bytes == 0 ? MPI_PROC_NULL : leaders_[to], in,
                             in_[from].bytes, in_[from].bytes == 0 ? MPI_PROC_NULL : leaders_[from],
                             kTag, blocks_.comm());
    }
  }

  /// Hands out what the node's other ranks receive.
  void scatter() {
    for (const Copy& copy : by_member_) {
      std::copy_n(copy.from, copy.bytes, copy.to);
    }
    for (std::size_t member = 0; member < members_.size(); ++member) {
      if (const auto [begin, bytes] = received_[member]; bytes != 0) {
        messages_.add(
            send_bytes(leaving_.data() + begin, bytes, members_[member], kTag, blocks_.comm()));
      }
    }
    messages_.finish();
  }

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

  // From the order of source and destination to that of node, source and destination.
  void plan_outgoing(const Nodes& nodes) {
    std::vector<std::size_t> next;
    for (const Range& range : out_) {
      next.push_back(range.begin);
    }
    const auto add = [&](int source, const std::byte* from) {
      for (int destination = 0; destination < blocks_.ranks(); ++destination) {
        const std::size_t bytes = blocks_.counts().of(source, destination);
        std::size_t& place =
            next[static_cast<std::size_t>(nodes.of_rank[static_cast<std::size_t>(destination)])];
        by_node_.push_back({from, leaving_.data() + place, bytes});
        place += bytes;
        from += bytes;
      }
    };
    add(blocks_.rank(), blocks_.send());
    for (std::size_t member = 0; member < members_.size(); ++member) {
      add(members_[member], arriving_.data() + sent_[member].begin);
    }
  }

  // From the order of node, source and destination to that of destination and source.
  void plan_incoming(const Nodes& nodes) {
    std::vector<std::byte*> next;
    for (const Range& range : received_) {
      next.push_back(leaving_.data() + range.begin);
    }
    std::vector<const std::byte*> from_node;
    for (const Range& range : in_) {
      from_node.push_back(arriving_.data() + range.begin);
    }
    std::byte* own = blocks_.receive();
    // In each node's message sources ascend, so going through all ranks takes them in order.
    for (int source = 0; source < blocks_.ranks(); ++source) {
      const std::byte*& from =
          from_node[static_cast<std::size_t>(nodes.of_rank[static_cast<std::size_t>(source)])];
      const auto add = [&](int destination, std::byte*& to) {
        const std::size_t bytes = blocks_.counts().of(source, destination);
        by_member_.push_back({from, to, bytes});
        from += bytes;
        to += bytes;
      };
      add(blocks_.rank(), own);
      for (std::size_t member = 0; member < members_.size(); ++member) {
        add(members_[member], next[member]);
      }
    }
  }

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

// Ranks that lead no node hand over all they send, and are handed all they receive.
class Hierarchical final : public Alltoall {
 public:
  Hierarchical(const Blocks& blocks, const Nodes& nodes)
      : Alltoall(blocks),
        leader_(nodes
                    .ranks[static_cast<std::size_t>(
                        nodes.of_rank[static_cast<std::size_t>(blocks.rank())])]
                    .front()),
        messages_(2) {
    if (leader_ == blocks.rank()) {
      duty_ = std::make_unique<NodeLeader>(blocks, nodes);
    }
  }

  void run(Stamps& /*stamps*/) override {
    if (duty_) {
      duty_->gather();
      duty_->exchange();
      duty_->scatter();
      return;
    }
    if (const std::size_t bytes = blocks().received_bytes(); bytes != 0) {
      messages_.add(receive_bytes(blocks().receive(), bytes, leader_, kTag, blocks().comm()));
    }
    if (const std::size_t bytes = blocks().sent_bytes(); bytes != 0) {
      messages_.add(send_bytes(blocks().send(), bytes, leader_, kTag, blocks().comm()));
    }
    messages_.finish();
  }

 private:
  int leader_;
  Messages messages_;
  std::unique_ptr<NodeLeader> duty_;
};

}  // namespace

Algorithm hierarchical() {
  Algorithm made{
      "hierarchical", "each node's first rank gathers, exchanges with the others, and hands out",
      [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Alltoall> {
        return std::make_unique<Hierarchical>(blocks, parameters.nodes);
      },
      CONTEND_BY_NODES};
  made.knows_all = true;
  return made;
}

}  // namespace contend::probe::alltoall
