// A parallel sort that stresses the network with its data exchange.

#include "alltoall/cells.hpp"
#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "sort/memory.hpp"
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

std::vector<std::string> exchange_names() {
  std::vector<std::string> names;
  for (const alltoall::Algorithm& algorithm : alltoall::catalogue()) {
    names.push_back(algorithm.name);
  }
  return names;
}

/// The kind of counts that an input leads to.
alltoall::Counts::Kind counts_kind(const std::string& input) {
  return input_kind(input) == InputKind::built ? alltoall::Counts::Kind::even
                                               : alltoall::Counts::Kind::own;
}

/// The cells of a combination: with what follows from its numbers, the mean bytes for each
/// destination and the predicted bytes of both arrays on the rank with the most; and one for each
/// value of the option that the schedule depends on.
std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks) {
  const std::int64_t records = cell.integer("n");
  const std::int64_t doubles = cell.integer("m");
  refuse_nonsense(records, doubles, arguments.flag("print"));
  const alltoall::Algorithm& algorithm = alltoall::find_algorithm(cell.text("exchange"));
  if (arguments.text("exchange") == "all" &&
      (!alltoall::unsuitable(algorithm, ranks, counts_kind(cell.text("input"))).empty() ||
       alltoall::lacks_phases(algorithm.option, arguments))) {
    return {};
  }
  const std::int64_t bytes = records * doubles * static_cast<std::int64_t>(sizeof(double));
  Cell made;
  made.labels = {{"algorithm", algorithm.name},
                 {"bytes", bytes / (std::int64_t{ranks} * ranks)},
                 {"n", records},
                 {"m", doubles},
                 {"input", cell.text("input")},
                 {"arrays_bytes", need_of({records, ranks}, doubles).arrays}};
  return alltoall::with_option(made, algorithm.option, arguments);
}

std::unique_ptr<Operation> make(alltoall::ParameterMaker& parameters, const Cell& cell,
                                const Context& context, MPI_Comm comm) {
  const alltoall::Algorithm& algorithm = alltoall::find_algorithm(cell.text("algorithm"));
  const std::string& input = cell.text("input");
  const std::string why = alltoall::unsuitable(algorithm, size_of(comm), counts_kind(input));
  if (!why.empty()) {
    throw Unsupported(why);
  }
  if (!algorithm.lacks.empty()) {
    throw Unsupported("this MPI library has no " + algorithm.lacks);
  }
  const Problem problem = {*input_kind(input),
                           static_cast<std::uint64_t>(context.arguments.integer("seed")),
                           {cell.integer("n"), size_of(comm)},
                           cell.integer("m")};
  const Schedule schedule = {algorithm,
                             parameters.of(cell, algorithm.option, context.arguments, comm)};
  return std::make_unique<SortOperation>(problem, schedule, context.arguments.flag("print"),
                                         context.machines, comm);
}

std::vector<Option> options() {
  std::vector<Option> all = alltoall::schedule_options();
  all.push_back({"print", Kind::flag, "", "Print the keys before and after."});
  all.push_back({"check", Kind::flag, "", "Verify the data of each cell once, without measuring."});
  return all;
}

Probe probe(alltoall::ParameterMaker& parameters) {
  Probe made;
  made.name = "sort";
  made.about =
      "Sorts n vectors of m doubles by their first element, in parallel, and times the exchange of "
      "data between ranks. It also times the first local sort, the search for splitters, the "
      "exchange of counts and the final local sort.";
  made.example = "--n 1492992 --m 8 --input built,uniform";
  made.axes = {
      {"n", Kind::integers, "1492992", "Number of vectors over all ranks."},
      {"m", Kind::integers, "8", "Number of doubles in a vector."},
      {"input", Kind::words, "built",
       "Distribution of the keys. built: the local sorts have nothing to do, and all ranks "
       "exchange "
       "blocks of the same length; n must be a multiple of the number of ranks squared.",
       input_kinds()},
      {"exchange", Kind::words, "library-v", "Schedule of the data exchange.", exchange_names()},
  };
  made.options = options();
  made.expand = expand;
  made.instead = [](const std::vector<Cell>& cells, const Context& context,
                    const MakeOperation& make_operation) -> std::optional<int> {
    if (!context.arguments.flag("check")) {
      return std::nullopt;
    }
    return alltoall::check_cells(cells, make_operation, MPI_COMM_WORLD);
  };
  made.make = [&](const Cell& cell, const Context& context, MPI_Comm comm) {
    return make(parameters, cell, context, comm);
  };
  return made;
}

}  // namespace

}  // namespace contend::probe::sort

int main(int argc, char** argv) {
  using namespace contend::probe;
  alltoall::ParameterMaker parameters;
  return run_probe(argc, argv, sort::probe(parameters));
}
