#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace contend::probe {

using Label = std::variant<std::int64_t, double, std::string>;

/// What is measured, by its labels in the order in which they are written: algorithm, bytes, ...
struct Cell {
  std::vector<std::pair<std::string, Label>> labels;

  /// The label of a name; ends the program when there is none.
  [[nodiscard]] const Label& at(const std::string& name) const;
};

/// Values of one sample on one rank, in the order of the operation's columns.
class Stamps {
 public:
  /// Takes the local clock's time as the next column: an instant.
  void mark();
  /// Writes seconds as the next column: a duration, whose column's name ends in "_s".
  void add(double seconds);
};

/// One cell's communication, made (untimed) for the cell and run once per sample.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  /// Names of what run() puts into its stamps, between "start" and "end", which the loop takes.
  [[nodiscard]] virtual std::vector<std::string> columns() const { return {}; }
  /// Before every sample, untimed: brings the input back, and clears the output if it is looked at
  /// afterwards.
  virtual void reset(bool verified) = 0;
  /// The timed part.
  virtual void run(Stamps& stamps) = 0;
  /// What is wrong with this rank's output; nothing when it is right.
  [[nodiscard]] virtual std::optional<std::string> verify() = 0;
};

/// Makes a cell's operation; collective over the communicator.
using MakeOperation = std::function<std::unique_ptr<Operation>(const Cell&, MPI_Comm)>;

}  // namespace contend::probe
