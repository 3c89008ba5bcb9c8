#pragma once

#include <mpi.h>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/algorithm.hpp"
#include "alltoall/blocks.hpp"
#include "common/operation.hpp"
#include "io/arguments.hpp"

namespace contend::probe::alltoall {

/// Makes the parameters that cells' labels and options stand for; looks for nodes, and reads
/// phases, once.
class ParameterMaker {
 public:
  /// Those of an algorithm that depends on an option, which "" is for none. Collective.
  [[nodiscard]] Parameters of(const Cell& cell, const std::string& option,
                              const Arguments& arguments, MPI_Comm comm);

 private:
  const Nodes& nodes(std::int64_t ranks_per_node, MPI_Comm comm);

  std::map<std::int64_t, Nodes> nodes_;
  std::optional<PatternParts> phases_;
};

/// How many bytes behind each buffer are watched for somebody writing there. Buffers have them.
inline constexpr std::size_t kGuardBytes = 4096;

/// What lets a sample begin.
enum class Start { by_clock, behind_barrier };

/// An all-to-all whose data is known, under any schedule.
class CheckedAlltoall final : public Operation {
 public:
  /// Fills the send buffer and the guards behind both.
  CheckedAlltoall(const Blocks& blocks, std::unique_ptr<Alltoall> alltoall,
                  Start start = Start::by_clock);

  [[nodiscard]] std::vector<std::string> columns() const override { return alltoall_->columns(); }

  [[nodiscard]] bool starts_by_clock() const override { return start_ == Start::by_clock; }

  /// Makes every byte of the receive buffer wrong, where it is looked at afterwards.
  void reset(bool verified) override;
  void run(Stamps& stamps) override { alltoall_->run(stamps); }

  /// Looks at every byte of the receive buffer, at what lies behind it, and whether what was sent
  /// is still there. O(bytes).
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  Blocks blocks_;
  std::unique_ptr<Alltoall> alltoall_;
  Start start_;
};

/// What decides which cells there are, and their order in a file of cells.
[[nodiscard]] std::vector<Option> axes();

/// Options besides, whose values make more cells of each: for all algorithms, or for those that
/// depend on them.
[[nodiscard]] std::vector<Option> options();

/// The cells of an algorithm and a size: one for each kind of counts, each way to start, and each
/// value of the option that the algorithm depends on. Throws BadInput.
///
/// Where all algorithms were asked for, those that are not for so many ranks, or not for uneven
/// counts, are left out.
[[nodiscard]] std::vector<Cell> expand(const Cell& cell, const Arguments& arguments, int ranks);

/// The options that some algorithms depend on.
[[nodiscard]] std::vector<Option> schedule_options();

/// Whether an option that an algorithm depends on is that of phases, and nobody gave any.
[[nodiscard]] bool lacks_phases(const std::string& option, const Arguments& arguments);

/// A cell for each value of the option that its algorithm depends on. Throws BadInput.
[[nodiscard]] std::vector<Cell> with_option(const Cell& cell, const std::string& option,
                                            const Arguments& arguments);

/// The counts that a cell's labels stand for.
[[nodiscard]] Counts counts_of(const Cell& cell, int ranks);

/// How a cell's samples start: by the clock, unless its labels say otherwise.
[[nodiscard]] Start start_of(const Cell& cell);

/// The kind of counts of a name: "even" or "uneven".
[[nodiscard]] Counts::Kind counts_kind(const std::string& name);

/// Runs every cell once, untimed, and verifies its data. Collective.
///
/// Rank 0 says a line for each cell that is wrong or left out, and one at the end. Returns the exit
/// status: 1 when one was wrong.
[[nodiscard]] int check_cells(const std::vector<Cell>& cells, const MakeOperation& make,
                              MPI_Comm comm);

}  // namespace contend::probe::alltoall
