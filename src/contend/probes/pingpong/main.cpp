// Latency and bandwidth between pairs of ranks, against the size of messages.

#include <mpi.h>
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "common/operation.hpp"
#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "compat/large_count.hpp"
#include "pingpong/messages.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::pingpong {

namespace {

constexpr int kThere = 1;
constexpr int kBack = 2;

// A message to or from nobody has no bytes: some libraries look at its place in memory even so.
Messages one(int source, int destination, int way, std::size_t bytes) {
  const bool real = source != MPI_PROC_NULL && destination != MPI_PROC_NULL;
  return {source, destination, way, real ? bytes : 0, real ? std::size_t{1} : std::size_t{0}};
}

/// Round trips of one message at a time: there, and back again.
///
/// A rank with two partners does both parts at once: sends on and receives, then sends back.
class RoundTrip : public Operation {
 public:
  /// Where a rank keeps messages: in a buffer for each, or in one, so that what arrived is sent
  /// back from where it arrived.
  enum class Keeps { apart, together };

  /// `inner` round trips, one after the other, are a sample.
  RoundTrip(Partners partners, Keeps keeps, std::size_t bytes, std::int64_t inner, MPI_Comm comm)
      : partners_(partners),
        inner_(inner),
        comm_(comm),
        ping_out_(one(rank_in(comm), partners.to, kThere, bytes)),
        ping_in_(one(partners.from, rank_in(comm), kThere, bytes)),
        pong_in_(keeps == Keeps::apart ? one(partners.to, rank_in(comm), kBack, bytes)
                                       : Messages(partners.to, rank_in(comm), kBack, ping_out_)),
        pong_out_(keeps == Keeps::apart ? one(rank_in(comm), partners.from, kBack, bytes)
                                        : Messages(rank_in(comm), partners.from, kBack, ping_in_)) {
    ping_out_.fill();
    pong_out_.fill();
    pong_in_.clear();
    ping_in_.clear();
  }

  [[nodiscard]] bool takes_part() const override { return partners_.any(); }
  void reset(bool verified) override {
    if (verified) {
      pong_in_.clear();
      ping_in_.clear();
    }
  }

  void run(Stamps&) override {
    for (std::int64_t trip = 0; trip < inner_; ++trip) {
      exchange(ping_out_, ping_in_);
      exchange(pong_out_, pong_in_);
    }
  }

  [[nodiscard]] std::optional<std::string> verify() override {
    const std::optional<std::string> wrong = ping_in_.verify();
    return wrong ? wrong : pong_in_.verify();
  }

 private:
  // The calls that everybody's ping-pong makes, where they do: they are the fastest.
  void exchange(Messages& out, Messages& in) const {
    if (crowded() || out.bytes() > kLargestCount || (out.count() > 0 && in.count() > 0)) {
      send_and_receive_bytes(out.message(0), out.bytes(), out.destination(), in.message(0),
                             in.bytes(), in.source(), out.way(), comm_);
    } else if (out.count() > 0) {
      CHECKED(MPI_Send, out.message(0), static_cast<int>(out.bytes()), MPI_BYTE, out.destination(),
              out.way(), comm_);
    } else {
      CHECKED(MPI_Recv, in.message(0), static_cast<int>(in.bytes()), MPI_BYTE, in.source(),
              in.way(), comm_, MPI_STATUS_IGNORE);
    }
  }

  Partners partners_;
  std::int64_t inner_;
  MPI_Comm comm_;
  // What this rank begins with and what comes back, then what it gets and what it answers.
  Messages ping_out_;
  Messages ping_in_;
  Messages pong_in_;
  Messages pong_out_;
};

constexpr int kUp = 1;
constexpr int kDown = 2;
// Added to a message's tag.
constexpr int kAcknowledged = 10;

/// Windows of messages that are under way together, each acknowledged by an empty message.
class Stream : public Operation {
 public:
  /// `inner` windows of `window` messages are a sample. `both_ways`: partners send to each other at
  /// the same time.
  Stream(Partners partners, bool both_ways, std::size_t bytes, std::size_t window,
         std::int64_t inner, MPI_Comm comm)
      : takes_part_(partners.any()), window_(window), inner_(inner), comm_(comm) {
    const int rank = rank_in(comm);
    if (partners.to != MPI_PROC_NULL) {
      out_.emplace_back(rank, partners.to, kUp, bytes, 1);
      if (both_ways) {
        in_.emplace_back(partners.to, rank, kDown, bytes, window);
      }
    }
    if (partners.from != MPI_PROC_NULL) {
      in_.emplace_back(partners.from, rank, kUp, bytes, window);
      if (both_ways) {
        out_.emplace_back(rank, partners.from, kDown, bytes, 1);
      }
    }
    for (Messages& messages : out_) {
      messages.fill();
    }
    for (Messages& messages : in_) {
      messages.clear();
    }
    requests_.reserve((in_.size() + out_.size()) * window);
  }

  [[nodiscard]] bool takes_part() const override { return takes_part_; }
  void reset(bool verified) override {
    if (verified) {
      for (Messages& messages : in_) {
        messages.clear();
      }
    }
  }

  void run(Stamps&) override {
    for (std::int64_t turn = 0; turn < inner_; ++turn) {
      transfer();
      acknowledge();
    }
  }

  [[nodiscard]] std::optional<std::string> verify() override {
    for (const Messages& messages : in_) {
      if (const std::optional<std::string> wrong = messages.verify()) {
        return wrong;
      }
    }
    return std::nullopt;
  }

 private:
  void transfer() {
    requests_.clear();
    for (Messages& messages : in_) {
      for (std::size_t number = 0; number < window_; ++number) {
        requests_.push_back(receive_bytes(messages.message(number), messages.bytes(),
                                          messages.source(), messages.way(), comm_));
      }
    }
    for (Messages& messages : out_) {
      for (std::size_t number = 0; number < window_; ++number) {
        requests_.push_back(send_bytes(messages.message(0), messages.bytes(),
                                       messages.destination(), messages.way(), comm_));
      }
    }
    wait_all(requests_);
  }

  void acknowledge() {
    requests_.clear();
    for (const Messages& messages : out_) {
      requests_.push_back(
          receive_bytes(nullptr, 0, messages.destination(), messages.way() + kAcknowledged, comm_));
    }
    for (const Messages& messages : in_) {
      requests_.push_back(
          send_bytes(nullptr, 0, messages.source(), messages.way() + kAcknowledged, comm_));
    }
    wait_all(requests_);
  }

  bool takes_part_;
  std::size_t window_;
  std::int64_t inner_;
  MPI_Comm comm_;
  // All messages of a window that are sent are the same, and held once.
  std::vector<Messages> out_;
  std::vector<Messages> in_;
  std::vector<MPI_Request> requests_;
};

// What a receiver holds at once.
constexpr std::int64_t kMostInFlight = 256 << 20;

bool is_round_trip(const Cell& cell) {
  return cell.text("algorithm") == "pingpong" || cell.text("algorithm") == "bounce";
}

std::vector<Cell> expand(const Cell& combination, const Arguments& arguments, int ranks) {
  if (ranks < 2) {
    throw BadInput("needs at least 2 ranks, as in mpirun -n 2, got 1");
  }
  if (arguments.given("peer") && arguments.given("pairs")) {
    throw BadInput("give either --peer or --pairs, not both");
  }
  const std::int64_t inner = arguments.integer("inner");
  const std::int64_t asked = arguments.integer("window");
  if (inner < 1 || asked < 1) {
    throw BadInput(std::string(inner < 1 ? "--inner" : "--window") + ": expected at least 1");
  }
  const std::string pairs =
      arguments.given("peer") ? "0-" + arguments.text("peer") : arguments.text("pairs");
  const std::int64_t bytes = std::max<std::int64_t>(combination.integer("bytes"), 1);
  const bool streams = !is_round_trip(combination);
  const std::int64_t window =
      streams ? std::clamp<std::int64_t>(kMostInFlight / bytes, 1, asked) : 1;
  std::vector<Cell> cells;
  for (const std::string& name : name_pairs(pairs, ranks)) {
    cells.push_back(combination);
    cells.back().labels.emplace_back("pairs", name);
    cells.back().labels.emplace_back("window", window);
    cells.back().labels.emplace_back("inner", inner);
  }
  return cells;
}

std::unique_ptr<Operation> make(const Cell& cell, const Context&, MPI_Comm comm) {
  const Partners partners = partners_in(cell.text("pairs"), rank_in(comm), size_of(comm));
  const auto bytes = static_cast<std::size_t>(cell.integer("bytes"));
  const std::int64_t inner = cell.integer("inner");
  const std::string& algorithm = cell.text("algorithm");
  if (is_round_trip(cell)) {
    const auto keeps = algorithm == "bounce" ? RoundTrip::Keeps::together : RoundTrip::Keeps::apart;
    return std::make_unique<RoundTrip>(partners, keeps, bytes, inner, comm);
  }
  const auto window = static_cast<std::size_t>(cell.integer("window"));
  return std::make_unique<Stream>(partners, algorithm == "both-ways", bytes, window, inner, comm);
}

// What a sample of so many seconds means.
std::string remark(const Cell& cell, double seconds) {
  const double bytes = static_cast<double>(cell.integer("bytes"));
  const double repeats = static_cast<double>(cell.integer("inner") * cell.integer("window"));
  char text[96];
  if (is_round_trip(cell)) {
    const double one_way = seconds / repeats / 2.0;
    std::snprintf(text, sizeof text, "%.3f us one way, %.1f MB/s", one_way * 1e6,
                  bytes / one_way * 1e-6);
  } else {
    std::snprintf(text, sizeof text, "%.1f MB/s each way, %.0f messages/s",
                  bytes * repeats / seconds * 1e-6, repeats / seconds);
  }
  return text;
}

}  // namespace

}  // namespace contend::probe::pingpong

int main(int argc, char** argv) {
  using namespace contend::probe;
  using namespace contend::probe::pingpong;
  Probe probe;
  probe.name = "pingpong";
  probe.about =
      "Times messages between pairs of ranks, back and forth or in a stream as fast as the network "
      "takes them.";
  probe.example = "--bytes 1,1024,1048576 --pairs 0-1,0-3";
  probe.axes = {
      {"algorithm",
       Kind::words,
       "pingpong",
       "pingpong: one message there and one back. bounce: the same, sent back from the buffer in "
       "which it arrived. stream: windows of messages one way, each window acknowledged. "
       "both-ways: windows both ways at once.",
       {"pingpong", "bounce", "stream", "both-ways"}},
      {"bytes", Kind::integers,
       "1,2,4,8,16,32,64,128,256,512,1024,2048,"
       "4096,8192,16384,32768,65536,131072,262144,524288,1048576",
       "Bytes of a message."},
  };
  probe.options = {
      {"pairs", Kind::word, "0-1",
       "Pairs of ranks, separated by commas and measured one after the other. all-shifts: all "
       "ranks at once, each with the rank S above it, for each S."},
      {"peer", Kind::integer, "", "The same as --pairs 0-N."},
      {"inner", Kind::integer, "1", "Round trips or windows in one sample."},
      {"window", Kind::integer, "64",
       "Messages in a window; fewer where they would exceed 256 MiB."},
  };
  probe.expand = expand;
  probe.make = make;
  probe.remark = remark;
  return run_probe(argc, argv, probe);
}
