#include "common/common_options.hpp"

#include <fstream>
#include <iterator>
#include <limits>

#include "common/check.hpp"
#include "common/exchange.hpp"

namespace contend::probe {

namespace {

std::vector<Option> common_options() {
  return {
      {"output", Kind::word, "", "Where rank 0 keeps every sample. Without it: a table."},
      {"cells", Kind::word, "",
       "A file of cells to measure in its order: a line for each, its words in the order of the "
       "options above. A line may leave out the first of them."},
      {"repetitions", Kind::word, "6:1000", "At least and at most so many samples of a cell."},
      {"precision", Kind::number, "0.05",
       "Enough, when the median's 95 % interval reaches no further than this part of it; 0 for "
       "never enough."},
      {"budget", Kind::number, "60",
       "Seconds for all cells together, shared over them; 0 for no limit."},
      {"warmups", Kind::integer, "1",
       "Samples before those that count. The first one's data is verified."},
      {"verify", Kind::flag, "", "Verify the data of every sample."},
      {"seed", Kind::integer, "1",
       "Decides the order of cells that come from options; 0 for their own order."},
      {"clocks",
       Kind::word,
       "shared",
       "Whether ranks under one kernel share its clock, or each counts as one of its own.",
       {"shared", "apart"}},
      {"help", Kind::flag, "", "Say this."},
      {"version", Kind::flag, "", "Say the version."},
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
                     probe.example + "\n\nCells, a measurement for each combination:\n" +
                     describe(probe.axes);
  if (!probe.options.empty()) {
    page += "\nOptions:\n" + describe(probe.options);
  }
  return page + "\nOptions of all probes:\n" + describe(common_options());
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

}  // namespace contend::probe
