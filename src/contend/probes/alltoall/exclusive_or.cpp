#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

class ExclusiveOr final : public CheckedAlltoall {
 public:
  explicit ExclusiveOr(const Blocks& blocks) : CheckedAlltoall(blocks) {}

  void run(Stamps& /*stamps*/) override {
    blocks().copy_own();
    for (int phase = 1; phase < blocks().ranks(); ++phase) {
      const int partner = blocks().rank() ^ phase;
      send_and_receive(blocks(), partner, partner);
    }
  }
};

}  // namespace

Algorithm exclusive_or() {
  Algorithm made{"xor", "in phase i Sendrecv with rank r xor i", make_from_blocks<ExclusiveOr>};
  made.power_of_two = true;
  return made;
}

}  // namespace contend::probe::alltoall
