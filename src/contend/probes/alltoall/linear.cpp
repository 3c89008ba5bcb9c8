#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

// All messages at once: nothing keeps them from meeting in the network.
class Linear final : public Alltoall {
 public:
  explicit Linear(const Blocks& blocks)
      : Alltoall(blocks), messages_(2 * static_cast<std::size_t>(blocks.ranks())) {}

  void run(Stamps& /*stamps*/) override {
    for (int places = 1; places < blocks().ranks(); ++places) {
      messages_.receive(blocks(), blocks().shifted(-places));
    }
    for (int places = 1; places < blocks().ranks(); ++places) {
      messages_.send(blocks(), blocks().shifted(places));
    }
    blocks().copy_own();
    messages_.finish();
  }

 private:
  Messages messages_;
};

}  // namespace

Algorithm linear() {
  return {"linear", "starts all Irecv and all Isend, then waits for all", make_from_blocks<Linear>};
}

}  // namespace contend::probe::alltoall
