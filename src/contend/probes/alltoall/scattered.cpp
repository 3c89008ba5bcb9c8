#include <algorithm>

#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

class Scattered final : public CheckedAlltoall {
 public:
  Scattered(const Blocks& blocks, std::int64_t batch)
      : CheckedAlltoall(blocks),
        batch_(static_cast<int>(std::min<std::int64_t>(batch, blocks.ranks()))),
        messages_(2 * static_cast<std::size_t>(batch_)) {}

  void run(Stamps& /*stamps*/) override {
    blocks().copy_own();
    const int ranks = blocks().ranks();
    for (int first = 1; first < ranks; first += batch_) {
      const int end = std::min(ranks, first + batch_);
      for (int places = first; places < end; ++places) {
        messages_.receive(blocks(), blocks().shifted(-places));
      }
      for (int places = first; places < end; ++places) {
        messages_.send(blocks(), blocks().shifted(places));
      }
      messages_.finish();
    }
  }

 private:
  int batch_;
  Messages messages_;
};

}  // namespace

Algorithm scattered() {
  return {"scattered", "batches of Irecv and Isend, each waited for before the next",
          [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Operation> {
            return std::make_unique<Scattered>(blocks, parameters.batch);
          },
          "batch"};
}

}  // namespace contend::probe::alltoall
