// Measures a pair of ranks while other pairs load the channels that it shares with them.

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "hotspot/hotspot.hpp"

using contend::probe::Arguments;
using contend::probe::BadInput;
using contend::probe::Cell;
using contend::probe::Context;
using contend::probe::Hotspot;
using contend::probe::Kind;
using contend::probe::Measured;
using contend::probe::Operation;
using contend::probe::Pair;
using contend::probe::Probe;

namespace {

/// Pairs of ranks: "0:5,1:6".
std::vector<Pair> parse_pairs(const std::string& option, const std::string& text, int ranks) {
  std::vector<Pair> pairs;
  if (text.empty()) {
    return pairs;
  }
  for (const std::string& part : contend::probe::split_text(text, ',')) {
    const std::vector<std::string> ends = contend::probe::split_text(part, ':');
    if (ends.size() != 2) {
      throw BadInput("--" + option + ": expected FROM:TO, got '" + part + "'");
    }
    const std::int64_t from = contend::probe::parse_integer(ends[0], 0);
    const std::int64_t to = contend::probe::parse_integer(ends[1], 0);
    if (from == to || std::max(from, to) >= ranks) {
      throw BadInput("--" + option + ": expected two ranks below " + std::to_string(ranks) +
                     ", got '" + part + "'");
    }
    pairs.emplace_back(static_cast<int>(from), static_cast<int>(to));
  }
  return pairs;
}

/// The cell with the window and the operations that send no more in a sample than is asked for: of
/// long messages a few tell as much, and on a slow network they take their time.
Cell limited(Cell cell, const Arguments& arguments) {
  const std::int64_t most = arguments.integer("sample-bytes");
  const std::int64_t bytes = std::max<std::int64_t>(cell.integer("bytes"), 1);
  std::int64_t window = cell.text("algorithm") == "stream" ? arguments.integer("window") : 1;
  std::int64_t operations = arguments.integer("operations");
  if (most > 0) {
    window = std::clamp<std::int64_t>(most / bytes, 1, window);
    operations = std::clamp<std::int64_t>(most / (window * bytes), 1, operations);
  }
  cell.labels.emplace_back("window", window);
  cell.labels.emplace_back("operations", operations);
  return cell;
}

std::vector<Cell> checked(const Cell& cell, const Arguments& arguments, int ranks) {
  std::vector<Pair> pairs = parse_pairs("victim", arguments.text("victim"), ranks);
  if (pairs.size() != 1) {
    throw BadInput("--victim: expected one pair FROM:TO");
  }
  const std::vector<Pair> rivals = parse_pairs("rivals", arguments.text("rivals"), ranks);
  pairs.insert(pairs.end(), rivals.begin(), rivals.end());
  std::set<int> ends;
  for (const Pair& pair : pairs) {
    for (const int end : {pair.first, pair.second}) {
      if (!ends.insert(end).second) {
        throw BadInput("--rivals: expected each rank in one pair only, got " + std::to_string(end) +
                       " twice");
      }
    }
  }
  if (cell.integer("rivals-active") > static_cast<std::int64_t>(rivals.size())) {
    throw BadInput("--rivals-active: expected at most the " + std::to_string(rivals.size()) +
                   " pairs of --rivals");
  }
  if (arguments.integer("operations") < 1 || arguments.integer("window") < 1) {
    throw BadInput("--operations and --window: expected at least 1");
  }
  for (const std::int64_t bytes : {cell.integer("bytes"), arguments.integer("load-bytes")}) {
    if (bytes < 0 || bytes > std::numeric_limits<int>::max()) {
      throw BadInput("--bytes and --load-bytes: expected at most 2147483647");
    }
  }
  if (arguments.integer("load-bytes") < 1) {
    throw BadInput("--load-bytes: expected at least 1");
  }
  return {limited(cell, arguments)};
}

std::unique_ptr<Operation> make(const Cell& cell, const Context& context, MPI_Comm comm) {
  const Arguments& arguments = context.arguments;
  const int ranks = contend::probe::size_of(comm);
  std::vector<Pair> rivals = parse_pairs("rivals", arguments.text("rivals"), ranks);
  rivals.resize(static_cast<std::size_t>(cell.integer("rivals-active")));
  const bool streams = cell.text("algorithm") == "stream";
  const Hotspot::Settings settings{streams ? Measured::stream : Measured::round_trip,
                                   cell.integer("bytes"),
                                   arguments.integer("load-bytes"),
                                   arguments.number("lead"),
                                   cell.integer("operations"),
                                   cell.integer("window")};
  return std::make_unique<Hotspot>(settings,
                                   parse_pairs("victim", arguments.text("victim"), ranks).front(),
                                   std::move(rivals), comm);
}

}  // namespace

int main(int argc, char** argv) {
  Probe probe;
  probe.name = "hotspot";
  probe.about =
      "Measures latency and bandwidth of one pair of ranks while other pairs send large messages "
      "without a pause. Choose pairs whose routes share a channel; contend measure hotspot does "
      "so.";
  probe.example = "--victim 0:2 --rivals 1:3 --rivals-active 0,1 --bytes 1:1M";
  probe.axes = {
      {"algorithm",
       Kind::words,
       "round-trip,stream",
       "What the victim does: send a message there and back, or --window messages one way.",
       {"round-trip", "stream"}},
      {"rivals-active", Kind::integers, "0,1", "Number of rival pairs that send meanwhile."},
      {"bytes", Kind::integers,
       "1,2,4,8,16,32,64,128,256,512,1024,2048,"
       "4096,8192,16384,32768,65536,131072,262144,524288,1048576",
       "Bytes of the victim's message."},
  };
  probe.together = "rivals-active";
  probe.options = {
      {"victim", Kind::word, "", "The measured pair: FROM:TO."},
      {"rivals", Kind::word, "", "The pairs that load the network: FROM:TO,FROM:TO,..."},
      {"load-bytes", Kind::integer, "8388608", "Bytes of a rival's messages."},
      {"lead", Kind::number, "0.02", "Seconds that the rivals send before the victim begins."},
      {"operations", Kind::integer, "10", "The victim's operations in a sample; each is timed."},
      {"window", Kind::integer, "16", "Messages in flight at a time in a stream."},
      {"sample-bytes", Kind::integer, "0",
       "Limit on the bytes that the victim sends in a sample, kept by fewer operations and smaller "
       "windows; 0 sets no limit."},
  };
  probe.expand = checked;
  probe.make = make;
  return contend::probe::run_probe(argc, argv, probe);
}
