#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"

namespace contend::probe::alltoall {

namespace {

/// A message to one rank, and one from another; -1 for none.
void meet(const Blocks& blocks, int to, int from) {
  if (to >= 0 && from >= 0) {
    send_and_receive(blocks, to, from);
    return;
  }
  Messages alone(1);
  if (to >= 0) {
    alone.send(blocks, to);
  } else if (from >= 0) {
    alone.receive(blocks, from);
  }
  alone.finish();
}

class Routed final : public Alltoall {
 public:
  Routed(const Blocks& blocks, RankPhases phases) : Alltoall(blocks), phases_(std::move(phases)) {}

  void run(Stamps& /*stamps*/) override {
    blocks().copy_own();
    for (std::size_t phase = 0; phase < phases_.to.size(); ++phase) {
      meet(blocks(), phases_.to[phase], phases_.from[phase]);
    }
  }

 private:
  RankPhases phases_;
};

class RoutedBarrier final : public Alltoall {
 public:
  RoutedBarrier(const Blocks& blocks, RankPhases phases)
      : Alltoall(blocks), phases_(std::move(phases)), barriers_(blocks.comm()) {}

  [[nodiscard]] std::vector<std::string> columns() const override { return {kBarriersColumn}; }

  void run(Stamps& stamps) override {
    blocks().copy_own();
    for (std::size_t phase = 0; phase < phases_.to.size(); ++phase) {
      if (phase > 0) {
        barriers_.pass();
      }
      meet(blocks(), phases_.to[phase], phases_.from[phase]);
    }
    stamps.add(barriers_.take());
  }

 private:
  RankPhases phases_;
  Barriers barriers_;
};

template <class Made>
std::unique_ptr<Alltoall> make(const Blocks& blocks, const Parameters& parameters) {
  return std::make_unique<Made>(blocks, parameters.phases);
}

}  // namespace

Algorithm routed() {
  return {"routed", "in phases in which no two messages share a channel, as --phases has them",
          make<Routed>, kPhasesOption};
}

Algorithm routed_barrier() {
  return {"routed-barrier", "routed with a barrier between its phases", make<RoutedBarrier>,
          kPhasesOption};
}

}  // namespace contend::probe::alltoall
