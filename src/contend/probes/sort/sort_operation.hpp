#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/algorithm.hpp"
#include "common/machine.hpp"
#include "common/operation.hpp"
#include "sort/input.hpp"
#include "sort/memory.hpp"
#include "sort/verify.hpp"

namespace contend::probe::sort {

/// What is sorted.
struct Problem {
  InputKind kind;
  std::uint64_t seed;
  Shares shares;
  /// In each record: m.
  std::int64_t doubles;
};

/// How data is exchanged.
struct Schedule {
  const alltoall::Algorithm& algorithm;
  alltoall::Parameters parameters;
};

/// A parallel sort with two arrays on every rank, of its share's length each.
///
/// Source: Mistry et al., Throughput Studies on an InfiniBand Interconnect via All-to-All
/// Communications, HPC 2015. The timed call is the data exchange alone, as there. All of the sort
/// happens around it in every sample, and its other steps are timed beside it:
///
/// - before the agreed start: the local sort, the finding of splitters (which the source's input
///   makes needless) and the exchange of counts. That exchange ends on no rank before all have come
///   to it, so the start that is agreed on afterwards finds every rank ready, however unequal their
///   local sorts are; were the start before the local sorts, the exchange would begin on each rank
///   at another time, and its samples would show the sorts' imbalance.
/// - after the end: the final sort, once the exchange has ended on all ranks, so that it takes
///   neither processor nor memory bandwidth from ranks that still exchange.
class SortOperation final : public Operation {
 public:
  /// Takes and touches all memory of the sort, and goes through the steps before the exchange once,
  /// as schedules are made for the counts that come of them. With `print` rank 0 prints the arrays
  /// of the first sample that is verified. Collective; throws NoMemory, std::bad_alloc or
  /// Unsupported, on all ranks.
  SortOperation(const Problem& problem, const Schedule& schedule, bool print,
                const Machines& machines, MPI_Comm comm);

  [[nodiscard]] std::vector<std::string> columns() const override;
  void reset(bool verified) override;
  [[nodiscard]] bool resets_together() const override { return true; }
  void run(Stamps& stamps) override { exchange_->run(stamps); }
  void finish(Stamps& stamps) override;
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  [[nodiscard]] alltoall::Blocks blocks() const;
  void print(const std::string& title, const Records& records) const;

  Problem problem_;
  bool print_;
  MPI_Comm comm_;
  int rank_;
  Input input_;
  Arrays arrays_;
  // Whether the unsorted array is as the input has it.
  bool filled_ = false;
  Summary of_input_;
  // Records that go to, and come from, every rank.
  std::vector<std::int64_t> to_;
  std::vector<std::int64_t> from_;
  std::unique_ptr<alltoall::Alltoall> exchange_;
  double local_sort_s_ = 0.0;
  double splitters_s_ = 0.0;
  double counts_s_ = 0.0;
};

}  // namespace contend::probe::sort
