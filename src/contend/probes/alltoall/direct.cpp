#include <algorithm>
#include <utility>
#include <vector>

#include "alltoall/algorithm.hpp"
#include "alltoall/messages.hpp"
#include "compat/large_count.hpp"
#include "schedules/schedules.h"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

// Carries out a plan: every block goes straight to the rank that it is for.
class Direct final : public Alltoall {
 public:
  Direct(contend_schedule schedule, const Blocks& blocks, const Parameters& parameters)
      : Alltoall(blocks), messages_(0), barriers_(blocks.comm()) {
    const bool batches = schedule == CONTEND_SCATTERED;
    const std::int64_t width = batches ? parameters.batch : parameters.in_flight;
    contend_party party{};
    party.rank = blocks.rank();
    party.ranks = blocks.ranks();
    party.width = static_cast<int>(std::min<std::int64_t>(width, blocks.ranks()));
    party.hosts = parameters.nodes.count();
    party.host_of = parameters.nodes.of_rank.data();
    party.phases = static_cast<int>(parameters.phases.to.size());
    party.phase_to = parameters.phases.to.data();
    party.phase_from = parameters.phases.from.data();
    const int phases = contend_count_phases(schedule, &party);
    numbers_.resize(contend_plan_numbers(&party, phases));
    plan_ = contend_make_plan(schedule, &party, numbers_.data());
    make_room();
  }

  [[nodiscard]] std::vector<std::string> columns() const override {
    return plan_.barriers ? std::vector<std::string>{kBarriersColumn} : std::vector<std::string>{};
  }

  void run(Stamps& stamps) override {
    if (plan_.own < 0) {
      blocks().copy_own();
    }
    if (plan_.in_flight > 0) {
      run_window();
    } else {
      run_phases();
    }
    if (plan_.barriers) {
      stamps.add(barriers_.take());
    }
  }

 private:
  // Room for all requests at a time, so that none is made while samples are taken.
  void make_room() {
    int most = 0;
    for (int phase = 0; phase < plan_.phases; ++phase) {
      const int sends = plan_.to_end[phase] - (phase == 0 ? 0 : plan_.to_end[phase - 1]);
      const int receives = plan_.from_end[phase] - (phase == 0 ? 0 : plan_.from_end[phase - 1]);
      most = std::max(most, sends + receives);
    }
    messages_ = Messages(static_cast<std::size_t>(most));
    window_.resize(2 * static_cast<std::size_t>(plan_.in_flight), MPI_REQUEST_NULL);
  }

  void run_phases() {
    int to = 0;
    int from = 0;
    for (int phase = 0; phase < plan_.phases; ++phase) {
      if (plan_.barriers && phase > 0) {
        barriers_.pass();
      }
      const int to_end = plan_.to_end[phase];
      const int from_end = plan_.from_end[phase];
      if (plan_.paired && to < to_end && from < from_end) {
        send_and_receive(blocks(), plan_.to[to++], plan_.from[from++]);
        continue;
      }
      while (from < from_end) {
        messages_.receive(blocks(), plan_.from[from++]);
      }
      while (to < to_end) {
        messages_.send(blocks(), plan_.to[to++]);
      }
      if (phase == plan_.own) {
        blocks().copy_own();
      }
      messages_.finish();
    }
  }

  void run_window() {
    next_receive_ = 0;
    next_send_ = 0;
    for (int place = 0; place < plan_.in_flight; ++place) {
      at(place) = next_receive();
    }
    for (int place = 0; place < plan_.in_flight; ++place) {
      at(plan_.in_flight + place) = next_send();
    }
    if (plan_.own >= 0) {
      blocks().copy_own();
    }
    for (int ended = wait_any(window_); ended != MPI_UNDEFINED; ended = wait_any(window_)) {
      at(ended) = ended < plan_.in_flight ? next_receive() : next_send();
    }
  }

  MPI_Request& at(int place) { return window_[static_cast<std::size_t>(place)]; }

  MPI_Request next_receive() {
    while (next_receive_ < blocks().ranks() - 1) {
      const int source = plan_.from[next_receive_++];
      if (const Incoming in = blocks().from(source); in.bytes != 0) {
        return receive_bytes(in.data, in.bytes, source, kTag, blocks().comm());
      }
    }
    return MPI_REQUEST_NULL;
  }

  MPI_Request next_send() {
    while (next_send_ < blocks().ranks() - 1) {
      const int destination = plan_.to[next_send_++];
      if (const Outgoing out = blocks().to(destination); out.bytes != 0) {
        return send_bytes(out.data, out.bytes, destination, kTag, blocks().comm());
      }
    }
    return MPI_REQUEST_NULL;
  }

  std::vector<int> numbers_;
  contend_plan plan_;
  Messages messages_;
  Barriers barriers_;
  std::vector<MPI_Request> window_;  // receives, then sends
  int next_receive_ = 0;
  int next_send_ = 0;
};

}  // namespace

Algorithm direct(contend_schedule schedule) {
  const contend_schedule_traits& traits = contend_schedules[schedule];
  Algorithm made{traits.name, traits.summary,
                 [schedule](const Blocks& blocks, const Parameters& parameters) {
                   return std::make_unique<Direct>(schedule, blocks, parameters);
                 },
                 traits.option};
  made.power_of_two = traits.power_of_two;
  return made;
}

}  // namespace contend::probe::alltoall
