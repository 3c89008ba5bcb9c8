#include <algorithm>

#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

class Scattered final : public Alltoall {
 public:
  Scattered(const Blocks& blocks, std::int64_t batch)
      : Alltoall(blocks),
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
  return {"scattered", "batches of Irecv and Isend, waiting for each before the next",
          [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Alltoall> {
            return std::make_unique<Scattered>(blocks, parameters.batch);
          },
          "batch"};
}

}  // namespace contend::probe::alltoall
