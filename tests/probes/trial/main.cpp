// A probe that goes wrong on purpose, and one that tells how right the global clock is.

#include <csignal>
#include <ctime>
#include <new>

#include "common/probe.hpp"
#include "common/random.hpp"
#include "common/ranks.hpp"

namespace {

using namespace contend::probe;

// CLOCK_REALTIME, which neither time namespaces nor the tests' shim change: the truth.
double true_time() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  // Few enough digits for a double to keep nanoseconds.
  return static_cast<double>(time.tv_sec % 100000) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Trial : public Operation {
 public:
  Trial(const Cell& cell, MPI_Comm comm) : how_(cell.text("algorithm")), rank_(rank_in(comm)) {
    if (how_ == "unsupported") {
      throw Unsupported("made for powers of two");
    }
    if (how_ == "memory" && rank_ == 1) {
      throw std::bad_alloc();
    }
  }

  std::vector<std::string> columns() const override {
    return how_ == "truth" ? std::vector<std::string>{"now", "true_s"} : std::vector<std::string>{};
  }
  bool takes_part() const override { return how_ != "alone" || rank_ == 1; }
  void reset(bool) override { ++samples_; }
  void run(Stamps& stamps) override {
    if (how_ == "truth") {
      stamps.mark();
      stamps.add(true_time());
    } else if (how_ == "killed" && rank_ == 1 && samples_ == 20) {
      std::raise(SIGKILL);
    } else if (how_ == "forgetful") {
      stamps.mark();
    }
  }
  std::optional<std::string> verify() override {
    const bool at_once = how_ == "wrong";
    if (rank_ == 1 && (at_once || (how_ == "wrong-later" && samples_ == 4))) {
      return "byte 7 is not there";
    }
    return std::nullopt;
  }

 private:
  std::string how_;
  int rank_;
  int samples_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Probe probe;
  probe.name = "trial";
  probe.about = "Goes wrong.";
  probe.example = "--algorithm wrong";
  probe.axes = {{"algorithm",
                 Kind::words,
                 "good",
                 "What goes wrong.",
                 {"good", "truth", "alone", "unsupported", "memory", "wrong", "wrong-later",
                  "killed", "forgetful"}},
                {"bytes", Kind::integers, "8", "Means nothing."}};
  probe.make = [](const Cell& cell, const Context&, MPI_Comm comm) {
    return std::make_unique<Trial>(cell, comm);
  };
  return run_probe(argc, argv, probe);
}
