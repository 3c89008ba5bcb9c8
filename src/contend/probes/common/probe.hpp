#pragma once

#include <mpi.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/operation.hpp"
#include "io/arguments.hpp"
#include "timing/measure.hpp"

namespace contend::probe {

/// What an operation may need to know beyond its cell.
struct Context {
  const Arguments& arguments;
  const Machines& machines;
};

/// A program that measures: what it can do, and how its cells are made.
struct Probe {
  /// "pingpong"; the program calls itself contend-pingpong.
  std::string name;
  /// A sentence or two for --help.
  std::string about;
  /// Arguments of four ranks that make a good example: "--bytes 1,1024".
  std::string example;
  /// Options whose values, in every combination, are the cells. A cell's labels have their names.
  std::vector<Option> axes;
  /// The axis whose values are compared with each other: its cells are measured one after another,
  /// so that a budget leaves none without the others. Left out: cells come in any order.
  std::string together = {};
  /// Options of its own besides.
  std::vector<Option> options = {};
  /// Turns a combination of the axes into the cells to measure, each with more labels perhaps. May
  /// throw BadInput. Left out: the combination itself.
  std::function<std::vector<Cell>(const Cell&, const Arguments&, int ranks)> expand = {};
  /// Does something else than measuring the cells, where an option asks for it, and gives the exit
  /// status; nothing for measuring them. Left out: they are always measured.
  std::function<std::optional<int>(const std::vector<Cell>&, const Context&, const MakeOperation&)>
      instead = {};
  /// Makes a cell's operation; see MakeOperation.
  std::function<std::unique_ptr<Operation>(const Cell&, const Context&, MPI_Comm)> make;
  /// What a cell whose samples take so many seconds means, for the table. Left out: nothing.
  std::function<std::string(const Cell&, double)> remark = {};
};

/// The whole program: starts MPI, reads the command line, measures, writes, ends MPI.
///
/// Returns the exit status: 0 done, 1 a cell failed, 2 bad arguments, 3 the output cannot be
/// written.
[[nodiscard]] int run_probe(int argc, char** argv, const Probe& probe);

/// A probe's axes, its own options, and those that all probes have.
[[nodiscard]] std::vector<Option> all_options(const Probe& probe);

/// What --help prints.
[[nodiscard]] std::string help_page(const Probe& probe);

/// When to stop, from the options that all probes have. Throws BadInput.
[[nodiscard]] Settings settings_from(const Arguments& arguments);

/// The text of a file that rank 0 reads, on all ranks. Collective. Throws BadInput.
[[nodiscard]] std::string read_on_first(const std::string& path, MPI_Comm comm);

}  // namespace contend::probe
