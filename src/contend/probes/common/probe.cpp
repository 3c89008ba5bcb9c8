#include "common/probe.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "common/ranks.hpp"
#include "compat/library.hpp"
#include "io/arguments.hpp"
#include "io/record.hpp"
#include "io/version.hpp"
#include "timing/clock.hpp"
#include "timing/measure.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

std::vector<Option> common_options() {
  return {
      {"output", Kind::word, "",
       "File in which rank 0 keeps every sample. Without it, the probe prints a table."},
      {"cells", Kind::word, "",
       "File of the cells to measure, in its order. Each line gives one cell by its values of the "
       "options above, in their order; a line may leave out the first ones."},
      {"without", Kind::word, "",
       "File of the cells to leave out. Each line gives one by labels of it, as words NAME=VALUE."},
      {"repetitions", Kind::word, "6:1000", "Smallest and largest number of samples of a cell."},
      {"precision", Kind::number, "0.05",
       "A cell ends when the 95 % interval of its median reaches no further than this fraction of "
       "the median on either side; 0 turns this off."},
      {"budget", Kind::number, "60",
       "Seconds for all cells together, divided among them; 0 sets no limit."},
      {"warmups", Kind::integer, "1",
       "Warm-up samples of each cell, which do not count. The data of the first is verified."},
      {"pause", Kind::number, "0",
       "Seconds that lie between two samples at least, so that each finds the network at rest."},
      {"verify", Kind::flag, "", "Verify the data of every sample."},
      {"seed", Kind::integer, "1",
       "Seed that shuffles the cells given by options; 0 keeps their order."},
      {"clocks",
       Kind::word,
       "shared",
       "Ranks under one kernel share its clock, or each is taken to have a clock of its own.",
       {"shared", "apart"}},
      {"help", Kind::flag, "", "Print this help."},
      {"version", Kind::flag, "", "Print the version."},
  };
}

}  // namespace

std::vector<Option> all_options(const Probe& probe) {
  std::vector<Option> all = probe.axes;
  all.insert(all.end(), probe.options.begin(), probe.options.end());
  const std::vector<Option> common = common_options();
  all.insert(all.end(), common.begin(), common.end());
  return all;
}

std::string help_page(const Probe& probe) {
  std::string page = probe.about + "\n\nExample:\n  mpirun -n 4 " + program_name() + " " +
                     probe.example + "\n\nOptions of cells; each combination is one cell:\n" +
                     describe(probe.axes);
  if (!probe.options.empty()) {
    page += "\nOptions:\n" + describe(probe.options);
  }
  return page + "\nOptions that all probes have:\n" + describe(common_options());
}

Settings settings_from(const Arguments& arguments) {
  Settings settings;
  const std::string& repetitions = arguments.text("repetitions");
  const std::size_t colon = repetitions.find(':');
  try {
    settings.least = parse_integer(repetitions.substr(0, colon), 1);
    settings.most = colon == std::string::npos ? settings.least
                                               : parse_integer(repetitions.substr(colon + 1), 1);
  } catch (const BadInput&) {
    settings.most = 0;
  }
  if (settings.most < settings.least) {
    throw BadInput("--repetitions: expected MIN:MAX such as 6:1000, got '" + repetitions + "'");
  }
  settings.precision = arguments.number("precision");
  const double budget = arguments.number("budget");
  settings.budget = budget > 0.0 ? budget : std::numeric_limits<double>::infinity();
  settings.warm_ups = arguments.integer("warmups");
  if (settings.warm_ups < 1) {
    throw BadInput(
        "--warmups: expected at least 1, as the first is the one whose data is verified");
  }
  settings.pause = arguments.number("pause");
  settings.verify = arguments.flag("verify");
  return settings;
}

std::string read_on_first(const std::string& path, MPI_Comm comm) {
  // The first letter says whether it could be read.
  std::string text = "?";
  if (rank_in(comm) == 0) {
    std::ifstream file(path, std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    text = file.good() || file.eof() ? "=" + content : text;
  }
  text = broadcast(text, comm);
  if (text.front() != '=') {
    throw BadInput(path + ": cannot be read");
  }
  return text.substr(1);
}

namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kIndent = 6;

const char* placeholder(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "";
    case Kind::word:
      return " WORD";
    case Kind::words:
      return " WORD,...";
    case Kind::integer:
      return " N";
    case Kind::integers:
      return " N,...";
    case Kind::number:
      return " X";
  }
  return "";
}

// A text in lines that are not too long, each set in.
std::string set_in(const std::string& text) {
  std::string made;
  std::string line;
  for (const std::string& word : split_text(text, ' ')) {
    if (!line.empty() && kIndent + line.size() + 1 + word.size() > kWidth) {
      made += std::string(kIndent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return made + std::string(kIndent, ' ') + line + "\n";
}

}  // namespace

std::string describe(const std::vector<Option>& options) {
  std::string page;
  for (const Option& option : options) {
    page += "  --" + option.name + placeholder(option.kind) + "\n";
    std::string about = option.help;
    if (!option.choices.empty()) {
      about += about.empty() ? "" : " ";
      about += option.kind == Kind::words ? "One or more of" : "One of";
      for (const std::string& choice : option.choices) {
        about += " " + choice;
      }
      about += option.kind == Kind::words ? ", or all." : ".";
    }
    if (!option.standard.empty()) {
      about += " Default: " + option.standard + ".";
    }
    page += set_in(about);
  }
  return page;
}

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
  if (const std::string& path = arguments.text("without"); !path.empty()) {
    leave_out(cells, read_on_first(path, MPI_COMM_WORLD), path);
  }
  if (arguments.text("cells").empty()) {
    shuffle(cells, static_cast<std::uint64_t>(arguments.integer("seed")), probe.together);
  }
  return cells;
}

// The record of a run, with what is known before the first sample. All ranks learn together whether
// rank 0 can write; if not, all throw CannotWrite.
std::unique_ptr<Record> begin_record(const std::string& path, const Probe& probe,
                                     const RunFacts& facts, const Machines& machines) {
  std::unique_ptr<Record> record;
  std::string problem;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    try {
      record = std::make_unique<Record>(path, probe.remark);
      record->begin(facts);
      record->ranks(machines, crowded());
    } catch (const CannotWrite& fault) {
      problem = fault.what();
    }
  }
  problem = broadcast(problem, MPI_COMM_WORLD);
  if (!problem.empty()) {
    throw CannotWrite(problem);
  }
  return record;
}

int measure(const Probe& probe, const Arguments& arguments, const std::vector<std::string>& words) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const Settings settings = settings_from(arguments);
  const std::vector<Cell> cells = find_cells(probe, arguments, ranks);
  const Machines machines = find_machines(MPI_COMM_WORLD);
  set_crowded(oversubscribed(machines));
  const Context context{arguments, machines};
  const MakeOperation make = [&](const Cell& cell, MPI_Comm comm) {
    return probe.make(cell, context, comm);
  };
  if (probe.instead) {
    if (const auto status = probe.instead(cells, context, make)) {
      return *status;
    }
  }
  GlobalClock clock(MPI_COMM_WORLD, machines, arguments.text("clocks") == "apart");
  const RunFacts facts{probe.name,         kVersion,     ranks,       library_version(),
                       library_standard(), words,        settings,    arguments.integer("seed"),
                       clock.epoch_unix(), timer_cost(), cells.size()};
  const auto record = begin_record(arguments.text("output"), probe, facts, machines);
  return static_cast<int>(
      measure_cells(cells, make, settings, clock, record.get(), MPI_COMM_WORLD));
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
  } catch (const CannotWrite& problem) {
    return say(stderr, program_name() + ": " + problem.what() + "\n",
               static_cast<int>(Outcome::cannot_write));
  }
}

}  // namespace

int run_probe(int argc, char** argv, const Probe& probe) {
  name_program("contend-" + probe.name);
  CHECKED(MPI_Init, &argc, &argv);
  CHECKED(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int status = run(probe, std::vector<std::string>(argv + 1, argv + argc));
  check("MPI_Finalize", MPI_Finalize());
  return status;
}

}  // namespace contend::probe
