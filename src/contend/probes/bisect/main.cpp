// Measures many patterns of simultaneous messages, each pattern once (or as often as asked).

#include <limits>
#include <memory>

#include "bisect/bisect.hpp"
#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "io/pattern_file.hpp"

using contend::probe::Bisect;
using contend::probe::Cell;
using contend::probe::Context;
using contend::probe::Kind;
using contend::probe::Operation;
using contend::probe::PatternFile;
using contend::probe::Probe;

namespace {

/// Checks the whole file before anything is measured, and says in the cell how long it is.
std::vector<Cell> with_patterns(const Cell& cell, const contend::probe::Arguments& arguments,
                                int ranks) {
  const std::string& path = arguments.text("patterns");
  if (path.empty()) {
    throw contend::probe::BadInput("--patterns: expected a file");
  }
  for (const char* const name : {"bytes", "packets"}) {
    if (cell.integer(name) < 1 || cell.integer(name) > std::numeric_limits<int>::max()) {
      throw contend::probe::BadInput(std::string("--") + name + ": expected 1 to 2147483647");
    }
  }
  std::int64_t count = 0;
  if (contend::probe::rank_in(MPI_COMM_WORLD) == 0) {
    count = PatternFile(path, ranks).count();
  }
  contend::probe::check("MPI_Bcast", MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
  if (count == 0) {
    throw contend::probe::BadInput(path + ": expected at least one pattern, got none");
  }
  Cell longer = cell;
  longer.labels.emplace_back("patterns", count);
  longer.labels.emplace_back("repeats", arguments.integer("repeats"));
  return {longer};
}

std::unique_ptr<Operation> make(const Cell& cell, const Context& context, MPI_Comm comm) {
  const Bisect::Order order{cell.integer("repeats"), context.arguments.integer("warmups")};
  return std::make_unique<Bisect>(context.arguments.text("patterns"), order, cell.integer("bytes"),
                                  cell.integer("packets"), comm);
}

}  // namespace

int main(int argc, char** argv) {
  Probe probe;
  probe.name = "bisect";
  probe.about =
      "Sends all messages of a pattern at once, one pattern after the other. Each line of the file "
      "is a pattern: for each rank, the rank that it sends to, or - if it sends nothing.";
  probe.example = "--patterns pairs.txt --bytes 1M --packets 10 --repetitions 100 --precision 0";
  probe.axes = {
      {"bytes", Kind::integers, "1048576", "Bytes of a packet."},
      {"packets", Kind::integers, "100", "Packets in each message."},
  };
  probe.options = {
      {"patterns", Kind::word, "", "File of patterns, which rank 0 reads."},
      {"repeats", Kind::integer, "1", "Samples of each pattern in a row."},
  };
  probe.expand = with_patterns;
  probe.make = make;
  return contend::probe::run_probe(argc, argv, probe);
}
