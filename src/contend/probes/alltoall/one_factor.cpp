#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

// Every phase pairs the ranks whose sum is i modulo p: each rank meets each other one once, for any
// p, and itself in a phase where it only copies.
class OneFactor final : public CheckedAlltoall {
 public:
  explicit OneFactor(const Blocks& blocks) : CheckedAlltoall(blocks) {}

  void run(Stamps& /*stamps*/) override {
    const int ranks = blocks().ranks();
    for (int phase = 0; phase < ranks; ++phase) {
      const int partner = (phase - blocks().rank() + ranks) % ranks;
      if (partner == blocks().rank()) {
        blocks().copy_own();
      } else {
        send_and_receive(blocks(), partner, partner);
      }
    }
  }
};

}  // namespace

Algorithm one_factor() {
  return {"one-factor", "in phase i Sendrecv with rank (i - r) mod p", make_from_blocks<OneFactor>};
}

}  // namespace contend::probe::alltoall
