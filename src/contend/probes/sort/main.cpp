// A parallel sort that stresses the network with its data exchange.

#include "common/probe.hpp"
#include "sort/sort_operation.hpp"

namespace contend::probe::sort {

namespace {

// Indices are kept in doubles, which hold all whole numbers up to here.
constexpr std::int64_t kMostRecords = std::int64_t{1} << 53;
// Both arrays' bytes are counted in 64 bits.
constexpr std::int64_t kMostDoubles = std::int64_t{1} << 58;
constexpr std::int64_t kMostPrinted = 10000;

void refuse_nonsense(std::int64_t records, std::int64_t doubles, bool print) {
  if (records > kMostRecords) {
    throw BadInput("--n: expected at most 2^53, got " + std::to_string(records));
  }
  if (doubles < 1) {
    throw BadInput("--m: expected at least 1, got " + std::to_string(doubles));
  }
  if (records > 0 && doubles > kMostDoubles / records) {
    throw BadInput("--n, --m: expected at most 2^58 doubles, got " + std::to_string(records) +
                   " times " + std::to_string(doubles));
  }
  if (print && records > kMostPrinted) {
    throw BadInput("--print: expected n of at most " + std::to_string(kMostPrinted) + ", got " +
                   std::to_string(records));
  }
}

/// The cell with what follows from its numbers: mean bytes for each destination, and predicted bytes
/// of both arrays on the rank with the most.
std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks) {
  const std::int64_t records = cell.integer("n");
  const std::int64_t doubles = cell.integer("m");
  refuse_nonsense(records, doubles, arguments.flag("print"));
  const std::int64_t bytes = records * doubles * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t destinations = std::int64_t{ranks} * ranks;
  Cell made;
  made.labels = {{"algorithm", cell.text("exchange")},
                 {"bytes", bytes / destinations},
                 {"n", records},
                 {"m", doubles},
                 {"input", cell.text("input")},
                 {"arrays_bytes", need_of({records, ranks}, doubles).arrays}};
  return {made};
}

std::unique_ptr<Operation> make(const Cell& cell, const Context& context, MPI_Comm comm) {
  const std::int64_t ranks = static_cast<std::int64_t>(context.machines.host.size());
  const Problem problem = {*input_kind(cell.text("input")),
                           static_cast<std::uint64_t>(context.arguments.integer("seed")),
                           {cell.integer("n"), ranks},
                           cell.integer("m"),
                           cell.text("algorithm"),
                           context.arguments.flag("print")};
  return std::make_unique<SortOperation>(problem, context.machines, comm);
}

Probe sort_probe() {
  Probe probe;
  probe.name = "sort";
  probe.about =
      "Sorts n vectors of m doubles by their first, in parallel, and times the exchange of data "
      "between ranks. Beside it are timed: the local sort before it, the finding of splitters, the "
      "exchange of counts, and the final local sort.";
  probe.example = "--n 1492992 --m 512 --input built,uniform";
  probe.axes = {
      {"n", Kind::integers, "1492992", "Vectors over all ranks."},
      {"m", Kind::integers, "8", "Doubles in a vector."},
      {"input", Kind::words, "built",
       "What they are. built: nothing is left to do for both local sorts, and all ranks exchange "
       "blocks of the same length; needs p squared to divide n.",
       input_kinds()},
      {"exchange", Kind::words, exchange_names().front(), "How data is exchanged.",
       exchange_names()},
  };
  probe.options = {{"print", Kind::flag, "", "Print the keys before and after."}};
  probe.expand = expand;
  probe.make = make;
  return probe;
}

}  // namespace

}  // namespace contend::probe::sort

int main(int argc, char** argv) {
  return contend::probe::run_probe(argc, argv, contend::probe::sort::sort_probe());
}
