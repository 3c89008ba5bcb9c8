#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

class Shift final : public CheckedAlltoall {
 public:
  explicit Shift(const Blocks& blocks) : CheckedAlltoall(blocks) {}

  void run(Stamps& /*stamps*/) override {
    blocks().copy_own();
    for (int places = 1; places < blocks().ranks(); ++places) {
      send_and_receive(blocks(), blocks().shifted(places), blocks().shifted(-places));
    }
  }
};

class ShiftBarrier final : public CheckedAlltoall {
 public:
  explicit ShiftBarrier(const Blocks& blocks) : CheckedAlltoall(blocks), barriers_(blocks.comm()) {}

  [[nodiscard]] std::vector<std::string> columns() const override { return {kBarriersColumn}; }

  void run(Stamps& stamps) override {
    blocks().copy_own();
    for (int places = 1; places < blocks().ranks(); ++places) {
      if (places > 1) {
        barriers_.pass();
      }
      send_and_receive(blocks(), blocks().shifted(places), blocks().shifted(-places));
    }
    stamps.add(barriers_.take());
  }

 private:
  Barriers barriers_;
};

}  // namespace

Algorithm shift() {
  return {"shift", "in phase i Sendrecv to rank r + i and from rank r - i",
          make_from_blocks<Shift>};
}

Algorithm shift_barrier() {
  return {"shift-barrier", "shift with a barrier between its phases",
          make_from_blocks<ShiftBarrier>};
}

}  // namespace contend::probe::alltoall
