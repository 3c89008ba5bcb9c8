#include "sort/sort_operation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/check.hpp"
#include "common/local_clock.hpp"
#include "common/waiting.hpp"
#include "sort/fault.hpp"
#include "sort/print.hpp"
#include "sort/splitters.hpp"

namespace contend::probe::sort {

namespace {

template <class Step>
double seconds_of(Step step) {
  const std::int64_t begin = local_now();
  step();
  return static_cast<double>(local_now() - begin) * 1e-9;
}

void wait_for_all(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Ibarrier", MPI_Ibarrier(comm, &request));
  wait(request);
}

/// A number from every rank to every rank.
void exchange_one_each(const std::vector<std::int64_t>& to, std::vector<std::int64_t>& from,
                       MPI_Comm comm) {
  if (crowded()) {
    MPI_Request request = MPI_REQUEST_NULL;
    check("MPI_Ialltoall", MPI_Ialltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T,
                                         comm, &request));
    wait(request);
  } else {
    check("MPI_Alltoall",
          MPI_Alltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm));
  }
}

/// Refuses, before memory is taken, what cannot be sorted here.
Problem sensible(const Problem& problem, const Machines& machines, MPI_Comm comm) {
  const Shares& shares = problem.shares;
  if (problem.kind == InputKind::built && shares.records % (shares.ranks * shares.ranks) != 0) {
    throw Unsupported("the built input has blocks of equal length, and " +
                      std::to_string(shares.ranks) + " squared does not divide n = " +
                      std::to_string(shares.records));
  }
  ask_for(need_of(shares, problem.doubles), machines, comm);
  return problem;
}

std::vector<double> touched(std::int64_t records, std::int64_t doubles) {
  return std::vector<double>(static_cast<std::size_t>(records * doubles));
}

std::vector<std::int64_t> times(const std::vector<std::int64_t>& counts, std::int64_t factor) {
  std::vector<std::int64_t> made;
  for (const std::int64_t count : counts) {
    made.push_back(count * factor);
  }
  return made;
}

}  // namespace

SortOperation::SortOperation(const Problem& problem, const Machines& machines, MPI_Comm comm)
    : problem_(sensible(problem, machines, comm)),
      comm_(comm),
      rank_(rank_in(comm)),
      input_(problem.kind, problem.seed, problem.shares),
      unsorted_memory_(touched(problem.shares.length(rank_), problem.doubles)),
      sorted_memory_(touched(problem.shares.length(rank_), problem.doubles)),
      local_sort_(problem.doubles, problem.shares.length(rank_)),
      unsorted_{unsorted_memory_.data(), problem.shares.length(rank_), problem.doubles},
      sorted_{sorted_memory_.data(), problem.shares.length(rank_), problem.doubles},
      from_(static_cast<std::size_t>(problem.shares.ranks)) {}

std::vector<std::string> SortOperation::columns() const {
  return {"local_sort_s", "splitters_s", "counts_s", "final_sort_s"};
}

void SortOperation::reset(bool verified) {
  if (!filled_) {
    input_.fill(unsorted_, rank_);
    filled_ = true;
  }
  if (verified) {
    of_input_ = summarise(unsorted_);
    std::fill(sorted_memory_.begin(), sorted_memory_.end(),
              std::numeric_limits<double>::quiet_NaN());
    print_once("unsorted", unsorted_);
  }
  local_sort_s_ = seconds_of([&] {
    // What the sort leaves where it was can be sorted again.
    filled_ = !local_sort_.run(unsorted_);
  });
  // Without it the splitters' time would contain waiting for the slowest local sort.
  wait_for_all(comm_);
  std::vector<std::int64_t> to;
  splitters_s_ = seconds_of([&] { to = split(unsorted_, problem_.shares, comm_); });
  exchange_counts(to);
}

void SortOperation::exchange_counts(const std::vector<std::int64_t>& to) {
  counts_s_ = seconds_of([&] { exchange_one_each(to, from_, comm_); });
  if (std::accumulate(from_.begin(), from_.end(), std::int64_t{0}) != sorted_.count) {
    fail("the ranks disagree about how many records this one gets");
  }
  if (!exchange_) {
    const Counts doubles = {times(to, problem_.doubles), times(from_, problem_.doubles)};
    exchange_ = make_exchange(problem_.exchange, doubles, comm_);
  }
}

void SortOperation::run(Stamps& /*stamps*/) { exchange_->run(unsorted_.first, sorted_.first); }

void SortOperation::finish(Stamps& stamps) {
  wait_for_all(comm_);
  stamps.add(local_sort_s_);
  stamps.add(splitters_s_);
  stamps.add(counts_s_);
  stamps.add(seconds_of([&] { local_sort_.run(sorted_); }));
  plant_fault(sorted_, rank_);
}

std::optional<std::string> SortOperation::verify() {
  print_once("sorted", sorted_);
  problem_.print = false;
  return find_wrong(input_, of_input_, sorted_, problem_.shares, comm_);
}

void SortOperation::print_once(const std::string& title, const Records& records) const {
  if (problem_.print) {
    print_keys(title, records, comm_);
  }
}

}  // namespace contend::probe::sort
