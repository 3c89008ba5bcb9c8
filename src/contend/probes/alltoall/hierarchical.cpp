#include <algorithm>
#include <cstring>

#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"
#include "alltoall/node_leader.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

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
