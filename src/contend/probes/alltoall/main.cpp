// Measures all-to-all communication under every schedule that is known here.

#include <cstdio>

#include "alltoall/algorithm.hpp"
#include "alltoall/blocks.hpp"
#include "alltoall/cells.hpp"
#include "common/probe.hpp"
#include "common/ranks.hpp"

namespace contend::probe::alltoall {

namespace {

/// Makes cells' operations; keeps what all of them use.
class Workshop {
 public:
  std::vector<Cell> plan(const Cell& cell, const Arguments& arguments, int ranks) {
    std::vector<Cell> cells = expand(cell, arguments, ranks);
    for (const Cell& one : cells) {
      buffers_.plan(counts_of(one, ranks));
    }
    return cells;
  }

  std::unique_ptr<Operation> make(const Cell& cell, const Arguments& arguments, MPI_Comm comm) {
    const Algorithm& algorithm = find_algorithm(cell.text("algorithm"));
    const Counts counts = counts_of(cell, size_of(comm));
    if (const std::string why = unsuitable(algorithm, size_of(comm), counts.kind()); !why.empty()) {
      throw Unsupported(why);
    }
    if (!algorithm.lacks.empty()) {
      throw Unsupported("this MPI library has no " + algorithm.lacks);
    }
    Blocks blocks(comm, counts);
    buffers_.hold(blocks);
    return std::make_unique<CheckedAlltoall>(
        blocks, algorithm.make(blocks, parameters_.of(cell, algorithm.option, arguments, comm)),
        start_of(cell));
  }

 private:
  Buffers buffers_;
  ParameterMaker parameters_;
};

// A line for each algorithm: its name, what it does, and why it cannot run here if it cannot.
void list_algorithms(const Arguments& arguments, int ranks) {
  for (const Algorithm& algorithm : catalogue()) {
    std::string why = algorithm.lacks.empty() ? "" : "this MPI library has no " + algorithm.lacks;
    if (why.empty() && lacks_phases(algorithm.option, arguments)) {
      why = "needs --phases";
    }
    for (const Label& counts : arguments.labels("counts")) {
      if (why.empty()) {
        why = unsuitable(algorithm, ranks, counts_kind(std::get<std::string>(counts)));
      }
    }
    std::printf("%-20s  %s%s\n", algorithm.name.c_str(), algorithm.summary.c_str(),
                why.empty() ? "" : ("; cannot run: " + why).c_str());
  }
  std::fflush(stdout);
}

std::optional<int> instead(const std::vector<Cell>& cells, const Context& context,
                           const MakeOperation& make) {
  if (context.arguments.flag("list")) {
    if (rank_in(MPI_COMM_WORLD) == 0) {
      list_algorithms(context.arguments, size_of(MPI_COMM_WORLD));
    }
    return 0;
  }
  if (context.arguments.flag("check")) {
    return check_cells(cells, make, MPI_COMM_WORLD);
  }
  return std::nullopt;
}

Probe probe(Workshop& workshop) {
  Probe made;
  made.name = "alltoall";
  made.about =
      "Measures all-to-all communication: every rank sends a block to every rank, under the "
      "library's own schedules and others.";
  made.example = "--algorithm library,shift,bruck --bytes 1,1024,1048576 --budget 60";
  made.axes = axes();
  made.options = options();
  made.expand = [&](const Cell& cell, const Arguments& arguments, int ranks) {
    return workshop.plan(cell, arguments, ranks);
  };
  made.instead = instead;
  made.make = [&](const Cell& cell, const Context& context, MPI_Comm comm) {
    return workshop.make(cell, context.arguments, comm);
  };
  return made;
}

}  // namespace

}  // namespace contend::probe::alltoall

int main(int argc, char** argv) {
  using namespace contend::probe;
  alltoall::Workshop workshop;
  return run_probe(argc, argv, alltoall::probe(workshop));
}
