#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace contend::probe {

using Label = std::variant<std::int64_t, double, std::string>;

/// The words of a label, as they stand on a command line.
[[nodiscard]] std::string words_of(const Label& label);

/// What is measured, by its labels in the order in which they are written: algorithm, bytes, ...
struct Cell {
  std::vector<std::pair<std::string, Label>> labels;

  /// The label of a name; ends the program when there is none.
  [[nodiscard]] const Label& at(const std::string& name) const;
  /// A label that is a whole number; ends the program when it is not.
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  /// A label that is text; ends the program when it is not.
  [[nodiscard]] const std::string& text(const std::string& name) const;
  /// All labels in one line: "pairwise 1024".
  [[nodiscard]] std::string name() const;
};

/// Values of one sample on one rank, in the order of the operation's columns.
class Stamps {
 public:
  /// One value: an instant of the local clock in nanoseconds, or a duration in seconds.
  struct Value {
    bool instant;
    std::int64_t local_ns;
    double seconds;
  };

  /// Takes the local clock's time as the next column: an instant. Costs one reading of the clock.
  void mark();
  /// Writes seconds as the next column: a duration, whose column's name ends in "_s".
  void add(double seconds);

  /// Forgets all values; keeps room for as many as are expected.
  void clear(std::size_t expected);
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
};

/// One cell's communication, made (untimed) for the cell and run once per sample.
///
/// All ranks call the functions at the same points, so each may communicate, destructor included;
/// but reset() only where resets_together() says that it does.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  /// Names of what run() and finish() put into the stamps, between "start" and "end", which the
  /// loop takes.
  [[nodiscard]] virtual std::vector<std::string> columns() const { return {}; }
  /// Whether this rank has anything to do. One that has not sleeps until the cell has ended: none
  /// of the functions below is called there, and its stamps are not-a-number.
  [[nodiscard]] virtual bool takes_part() const { return true; }
  /// Before every sample, untimed: brings the input back, and clears the output if it is looked at
  /// afterwards.
  virtual void reset(bool verified) = 0;
  /// Whether reset() communicates. All ranks then hear that a sample comes before they get ready
  /// for it, which costs a broadcast more.
  [[nodiscard]] virtual bool resets_together() const { return false; }
  /// Whether ranks start at an agreed instant; otherwise each does as it leaves a barrier, and all
  /// have to take part.
  [[nodiscard]] virtual bool starts_by_clock() const { return true; }
  /// The timed part.
  virtual void run(Stamps& stamps) = 0;
  /// After every sample, when "end" has been taken: what belongs to the sample but not to its time.
  /// Its durations follow those of run().
  virtual void finish(Stamps& /*stamps*/) {}
  /// What is wrong with this rank's output; nothing when it is right.
  [[nodiscard]] virtual std::optional<std::string> verify() = 0;
};

/// Thrown, by all ranks alike, by a MakeOperation for a cell that makes no sense here, such as a
/// schedule for powers of two on seven ranks. The cell is skipped, and its file says why.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown, by all ranks alike, by a MakeOperation for a cell whose memory is not there, with
/// figures. The cell fails, and its file says why.
class NoMemory : public std::bad_alloc {
 public:
  explicit NoMemory(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

/// Makes a cell's operation; collective over the communicator.
///
/// Memory is taken first, before anything that communicates: where a rank throws std::bad_alloc
/// the cell fails on all ranks, and the program goes on with the next. When the constructor has to
/// communicate, agree() tells whether all ranks got so far.
using MakeOperation = std::function<std::unique_ptr<Operation>(const Cell&, MPI_Comm)>;

/// Throws std::bad_alloc on all ranks when one of them says that it lacks memory. Collective.
void agree(bool has_memory, MPI_Comm comm);

}  // namespace contend::probe
