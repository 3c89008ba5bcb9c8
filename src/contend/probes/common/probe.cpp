#include "common/probe.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "common/cells.hpp"
#include "common/check.hpp"
#include "common/common_options.hpp"
#include "common/exchange.hpp"
#include "common/global_clock.hpp"
#include "common/local_clock.hpp"
#include "common/measure.hpp"
#include "common/record.hpp"
#include "common/version.hpp"
#include "common/waiting.hpp"
#include "compat/library.hpp"

namespace contend::probe {

namespace {

constexpr int kBadInput = 2;

// One line, by rank 0 alone; all ranks come here together.
int say(FILE* stream, const std::string& line, int status) {
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::fwrite(line.data(), 1, line.size(), stream);
    std::fflush(stream);
  }
  return status;
}

std::vector<Cell> find_cells(const Probe& probe, const Arguments& arguments, int ranks) {
  std::vector<Cell> cells;
  if (const std::string& path = arguments.text("cells"); !path.empty()) {
    cells = parse_cells(read_on_first(path, MPI_COMM_WORLD), path, probe.axes, arguments);
  } else {
    cells = cross_product(probe.axes, arguments);
  }
  if (probe.expand) {
    std::vector<Cell> expanded;
    for (const Cell& cell : cells) {
      for (Cell& one : probe.expand(cell, arguments, ranks)) {
        expanded.push_back(std::move(one));
      }
    }
    cells = std::move(expanded);
  }
  if (arguments.text("cells").empty()) {
    shuffle(cells, static_cast<std::uint64_t>(arguments.integer("seed")));
  }
  return cells;
}

// Every rank learns together whether rank 0 can write.
bool first_can_write(const std::string& problem) {
  const std::string told = broadcast(problem, MPI_COMM_WORLD);
  if (told.empty()) {
    return true;
  }
  return say(stderr, program_name() + ": " + told + "\n", 0) != 0;
}

int measure(const Probe& probe, const Arguments& arguments, const std::vector<std::string>& words) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const Settings settings = settings_from(arguments);
  const std::vector<Cell> cells = find_cells(probe, arguments, ranks);
  const Machines machines = find_machines(MPI_COMM_WORLD);
  const bool shared = oversubscribed(machines);
  set_crowded(shared);
  const Context context{arguments, machines};
  const MakeOperation make = [&](const Cell& cell, MPI_Comm comm) {
    return probe.make(cell, context, comm);
  };
  if (probe.instead) {
    if (const auto status = probe.instead(cells, context, make)) {
      return *status;
    }
  }
  const double epoch = unix_now();
  GlobalClock clock(MPI_COMM_WORLD, machines, arguments.text("clocks") == "apart");
  const bool first = rank_in(MPI_COMM_WORLD) == 0;
  std::string problem;
  std::optional<Record> record;
  try {
    record.emplace(first ? arguments.text("output") : "", probe.remark);
    if (first) {
      record->begin({probe.name, kVersion, ranks, library_version(), library_standard(), words,
                     settings.budget, settings.precision, settings.least, settings.most,
                     settings.warm_ups, settings.verify, arguments.integer("seed"), epoch,
                     timer_cost(), cells.size()});
      record->ranks(machines, shared);
    }
  } catch (const CannotWrite& fault) {
    problem = fault.what();
  }
  if (!first_can_write(problem)) {
    return static_cast<int>(Outcome::cannot_write);
  }
  return static_cast<int>(measure_cells(cells, make, settings, clock, *record, MPI_COMM_WORLD));
}

int run(const Probe& probe, const std::vector<std::string>& words) {
  try {
    const Arguments arguments(all_options(probe), words);
    if (arguments.flag("help")) {
      return say(stdout, help_page(probe), 0);
    }
    if (arguments.flag("version")) {
      return say(stdout, program_name() + " " + kVersion + "\n", 0);
    }
    return measure(probe, arguments, words);
  } catch (const BadInput& problem) {
    return say(stderr, program_name() + ": " + problem.what() + "\n", kBadInput);
  }
}

}  // namespace

int run_probe(int argc, char** argv, const Probe& probe) {
  name_program("contend-" + probe.name);
  check("MPI_Init", MPI_Init(&argc, &argv));
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  const int status = run(probe, std::vector<std::string>(argv + 1, argv + argc));
  check("MPI_Finalize", MPI_Finalize());
  return status;
}

}  // namespace contend::probe
