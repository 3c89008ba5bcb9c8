#include <algorithm>

#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"
#include "common/waiting.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

// A message to a rank some places further is the so-manieth on both sides. So among all that have
// not ended the one with the fewest places is under way at its sender and its receiver, whatever
// the width of the window: no schedule of these can wait for itself.
class InFlight final : public Alltoall {
 public:
  InFlight(const Blocks& blocks, std::int64_t width)
      : Alltoall(blocks),
        width_(static_cast<int>(std::min<std::int64_t>(width, blocks.ranks()))),
        requests_(2 * static_cast<std::size_t>(width_), MPI_REQUEST_NULL) {}

  void run(Stamps& /*stamps*/) override {
    next_receive_ = 1;
    next_send_ = 1;
    for (int place = 0; place < width_; ++place) {
      at(place) = next_receive();
    }
    for (int place = width_; place < 2 * width_; ++place) {
      at(place) = next_send();
    }
    blocks().copy_own();
    for (int ended = wait_any(requests_); ended != MPI_UNDEFINED; ended = wait_any(requests_)) {
      at(ended) = ended < width_ ? next_receive() : next_send();
    }
  }

 private:
  MPI_Request& at(int place) { return requests_[static_cast<std::size_t>(place)]; }

  MPI_Request next_receive() {
    while (next_receive_ < blocks().ranks()) {
      const int source = blocks().shifted(-next_receive_++);
      if (const Incoming in = blocks().from(source); in.bytes != 0) {
        return receive_bytes(in.data, in.bytes, source, kTag, blocks().comm());
      }
    }
    return MPI_REQUEST_NULL;
  }

  MPI_Request next_send() {
    while (next_send_ < blocks().ranks()) {
      const int destination = blocks().shifted(next_send_++);
      if (const Outgoing out = blocks().to(destination); out.bytes != 0) {
        return send_bytes(out.data, out.bytes, destination, kTag, blocks().comm());
      }
    }
    return MPI_REQUEST_NULL;
  }

  int width_;
  std::vector<MPI_Request> requests_;  // receives, then sends
  int next_receive_ = 1;
  int next_send_ = 1;
};

}  // namespace

Algorithm in_flight() {
  return {"inflight", "keeps some Irecv and Isend in flight; as one ends, the next starts",
          [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Alltoall> {
            return std::make_unique<InFlight>(blocks, parameters.in_flight);
          },
          "in-flight"};
}

}  // namespace contend::probe::alltoall
