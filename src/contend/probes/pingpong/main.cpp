// Latency and bandwidth between pairs of ranks, against the size of messages.

#include <algorithm>
#include <cstdio>

#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "pingpong/round_trip.hpp"
#include "pingpong/stream.hpp"

namespace {

using namespace contend::probe;
using namespace contend::probe::pingpong;

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

int main(int argc, char** argv) {
  Probe probe;
  probe.name = "pingpong";
  probe.about =
      "Times messages between pairs of ranks, back and forth or in a stream as fast as the network "
      "takes them.";
  probe.example = "--bytes 1:1M --pairs 0-1,0-3";
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
