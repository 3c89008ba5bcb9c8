#include "alltoall/cells.hpp"

#include <algorithm>
#include <limits>

namespace contend::probe::alltoall {

namespace {

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : catalogue()) {
    all.push_back(algorithm.name);
  }
  return all;
}

// The least value of an option that algorithms depend on.
std::int64_t least(const std::string& option) {
  if (option == "ranks-per-node") {
    return 0;
  }
  return option == "radix" ? 2 : 1;
}

// What an option is called among a cell's labels, which are columns of tables later.
std::string label_name(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

// A rank's bytes, and twice as many, as those of uneven counts may be, must be countable at all.
void refuse_overflow(std::int64_t bytes, int ranks) {
  if (bytes > std::numeric_limits<std::int64_t>::max() / 4 / ranks) {
    throw BadInput("--bytes: " + std::to_string(bytes) + " bytes for each of " +
                   std::to_string(ranks) + " ranks overflow 64 bits");
  }
}

// A cell for each value of the option that its algorithm depends on.
std::vector<Cell> with_option(const Cell& cell, const std::string& option,
                              const Arguments& arguments) {
  if (option.empty()) {
    return {cell};
  }
  std::vector<Cell> cells;
  for (const Label& value : arguments.labels(option)) {
    if (std::get<std::int64_t>(value) < least(option)) {
      throw BadInput("--" + option + ": expected at least " + std::to_string(least(option)) +
                     ", got " + words_of(value));
    }
    cells.push_back(cell);
    cells.back().labels.emplace_back(label_name(option), value);
  }
  return cells;
}

}  // namespace

std::vector<Option> axes() {
  return {
      {"algorithm", Kind::words, "all", "The schedule.", names()},
      {"bytes", Kind::sizes, "1:1M", "Bytes from each rank to each other one."},
  };
}

std::vector<Option> options() {
  return {
      {"counts",
       Kind::words,
       "even",
       "Equally many bytes for every pair of ranks, or from none to twice as many.",
       {"even", "uneven"}},
      {"ranks-per-node", Kind::integers, "0",
       "Take so many ranks in a row for a node's, in the schedules that ask for nodes; 0 for those "
       "that share memory."},
      {"batch", Kind::integers, "32", "Messages each way in a batch of scattered."},
      {"in-flight", Kind::integers, "32", "Messages each way that inflight has under way."},
      {"radix", Kind::integers, "2", "The base of the digits in bruck."},
      {"list", Kind::flag, "", "Say what the algorithms do, and which are for so many ranks."},
      {"check", Kind::flag, "", "Verify the data of every cell once and measure nothing."},
  };
}

std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks) {
  const Algorithm& algorithm = find_algorithm(cell.text("algorithm"));
  refuse_overflow(cell.integer("bytes"), ranks);
  std::vector<Cell> cells;
  for (const Label& counts : arguments.labels("counts")) {
    const Counts::Kind kind = counts_kind(std::get<std::string>(counts));
    if (arguments.text("algorithm") == "all" && !unsuitable(algorithm, ranks, kind).empty()) {
      continue;
    }
    Cell one = cell;
    one.labels.emplace_back("counts", counts);
    for (Cell& made : with_option(one, algorithm.option, arguments)) {
      cells.push_back(std::move(made));
    }
  }
  return cells;
}

Counts counts_of(const Cell& cell, int ranks) {
  return Counts(counts_kind(cell.text("counts")), static_cast<std::size_t>(cell.integer("bytes")),
                ranks);
}

Counts::Kind counts_kind(const std::string& name) {
  return name == "uneven" ? Counts::Kind::uneven : Counts::Kind::even;
}

}  // namespace contend::probe::alltoall
