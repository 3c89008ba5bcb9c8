#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

// In each phase all ranks of a node exchange with all ranks of one node, so that a node's port
// carries one node's messages at a time. With one rank on every node it is the same as shift.
// Source: C. Kutzner, D. van der Spoel, M. Fechner, E. Lindahl, U. W. Schmitt, B. L. de Groot,
// H. Grubmüller, Speeding up parallel GROMACS on high-latency networks, Journal of Computational
// Chemistry 28 (2007).
class Phases {
 public:
  Phases(const Blocks& blocks, const Nodes& nodes)
      : nodes_(nodes), messages_(2 * static_cast<std::size_t>(blocks.ranks())) {
    const int own = nodes.of_rank[static_cast<std::size_t>(blocks.rank())];
    own_ = own;
    const std::vector<int>& here = ranks_on(own);
    while (here[place_] != blocks.rank()) {
      ++place_;
    }
    for (const auto& ranks : nodes.ranks) {
      shared_ = shared_ || ranks.size() > 1;
    }
  }

  [[nodiscard]] int count() const { return nodes_.count(); }
  // Whether ranks meet within their nodes, so that phase 0 is more than a copy.
  [[nodiscard]] bool shared() const { return shared_; }

  void run(const Blocks& blocks, int phase) {
    const int nodes = nodes_.count();
    each(ranks_on((own_ - phase + nodes) % nodes), blocks.rank(),
         [&](int source) { messages_.receive(blocks, source); });
    each(ranks_on((own_ + phase) % nodes), blocks.rank(),
         [&](int destination) { messages_.send(blocks, destination); });
    if (phase == 0) {
      blocks.copy_own();
    }
    messages_.finish();
  }

 private:
  [[nodiscard]] const std::vector<int>& ranks_on(int node) const {
    return nodes_.ranks[static_cast<std::size_t>(node)];
  }

  // A node's other ranks; the ranks of this node begin at different ones.
  template <class Use>
  void each(const std::vector<int>& ranks, int self, const Use& use) const {
    for (std::size_t step = 0; step < ranks.size(); ++step) {
      if (const int other = ranks[(place_ + step) % ranks.size()]; other != self) {
        use(other);
      }
    }
  }

  Nodes nodes_;
  int own_ = 0;
  std::size_t place_ = 0;
  bool shared_ = false;
  Messages messages_;
};

class NodeOrdered final : public CheckedAlltoall {
 public:
  NodeOrdered(const Blocks& blocks, const Nodes& nodes)
      : CheckedAlltoall(blocks), phases_(blocks, nodes) {}

  void run(Stamps& /*stamps*/) override {
    for (int phase = 0; phase < phases_.count(); ++phase) {
      phases_.run(blocks(), phase);
    }
  }

 private:
  Phases phases_;
};

class NodeOrderedBarrier final : public CheckedAlltoall {
 public:
  NodeOrderedBarrier(const Blocks& blocks, const Nodes& nodes)
      : CheckedAlltoall(blocks), phases_(blocks, nodes), barriers_(blocks.comm()) {}

  [[nodiscard]] std::vector<std::string> columns() const override { return {kBarriersColumn}; }

  void run(Stamps& stamps) override {
    const int first_after_messages = phases_.shared() ? 1 : 2;
    for (int phase = 0; phase < phases_.count(); ++phase) {
      if (phase >= first_after_messages) {
        barriers_.pass();
      }
      phases_.run(blocks(), phase);
    }
    stamps.add(barriers_.take());
  }

 private:
  Phases phases_;
  Barriers barriers_;
};

}  // namespace

Algorithm node_ordered() {
  return {"node-ordered", "in phase i Irecv from every rank of node n - i, Isend to those of n + i",
          [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Operation> {
            return std::make_unique<NodeOrdered>(blocks, parameters.nodes);
          },
          "ranks-per-node"};
}

Algorithm node_ordered_barrier() {
  return {"node-ordered-barrier", "node-ordered with a barrier between its phases",
          [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Operation> {
            return std::make_unique<NodeOrderedBarrier>(blocks, parameters.nodes);
          },
          "ranks-per-node"};
}

}  // namespace contend::probe::alltoall
