#include "sort/sort_operation.hpp"

#include <numeric>

#include "common/ranks.hpp"
#include "sort/records.hpp"
#include "sort/splitters.hpp"
#include "timing/clock.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::sort {

namespace {

template <class Step>
double seconds_of(Step step) {
  const std::int64_t begin = local_now();
  step();
  return static_cast<double>(local_now() - begin) * 1e-9;
}

/// Makes the schedule for blocks; throws Unsupported on all ranks where one of them does, as some
/// ranks' counts may be too large for the library and others' not.
std::unique_ptr<alltoall::Alltoall> make_exchange(const Schedule& schedule,
                                                  const alltoall::Blocks& blocks) {
  std::unique_ptr<alltoall::Alltoall> made;
  std::string problem;
  try {
    made = schedule.algorithm.make(blocks, schedule.parameters);
  } catch (const Unsupported& reason) {
    problem = reason.what();
  }
  const int refusing = first_refusing(!problem.empty(), blocks.comm());
  if (refusing < blocks.ranks()) {
    throw Unsupported(
        gather_everywhere(problem, blocks.comm())[static_cast<std::size_t>(refusing)]);
  }
  return made;
}

/// A number from every rank to every rank.
void exchange_one_each(const std::vector<std::int64_t>& to, std::vector<std::int64_t>& from,
                       MPI_Comm comm) {
  if (crowded()) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECKED(MPI_Ialltoall, to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm, &request);
    wait(request);
  } else {
    CHECKED(MPI_Alltoall, to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, comm);
  }
}

/// Says no, before memory is taken, to what makes no sense.
Problem sensible(const Problem& problem) {
  const Shares& shares = problem.shares;
  if (problem.kind == InputKind::built && shares.records % (shares.ranks * shares.ranks) != 0) {
    throw Unsupported(
        "the built input needs an n that is a multiple of the number of ranks "
        "squared, but " +
        std::to_string(shares.records) + " is not a multiple of " + std::to_string(shares.ranks) +
        " squared");
  }
  return problem;
}

std::vector<std::size_t> bytes_of(const std::vector<std::int64_t>& records, std::int64_t doubles) {
  std::vector<std::size_t> bytes;
  for (const std::int64_t count : records) {
    bytes.push_back(static_cast<std::size_t>(count * doubles) * sizeof(double));
  }
  return bytes;
}

}  // namespace

SortOperation::SortOperation(const Problem& problem, const Schedule& schedule, bool print,
                             const Machines& machines, MPI_Comm comm)
    : problem_(sensible(problem)),
      print_(print),
      comm_(comm),
      rank_(rank_in(comm)),
      input_(problem.kind, problem.seed, problem.shares),
      arrays_(problem.shares, problem.doubles, machines, comm),
      from_(static_cast<std::size_t>(problem.shares.ranks)) {
  reset(false);
  exchange_ = make_exchange(schedule, blocks());
}

// The built input makes all blocks alike, and so it is the one for schedules that need that.
alltoall::Blocks SortOperation::blocks() const {
  const auto to = bytes_of(to_, problem_.doubles);
  const auto from = bytes_of(from_, problem_.doubles);
  const alltoall::Counts counts =
      problem_.kind == InputKind::built
          ? alltoall::Counts(alltoall::Counts::Kind::even, to.front(), size_of(comm_))
          : alltoall::Counts(rank_, to, from);
  alltoall::Blocks made(comm_, counts);
  made.place(reinterpret_cast<std::byte*>(arrays_.unsorted().first),
             reinterpret_cast<std::byte*>(arrays_.sorted().first));
  return made;
}

std::vector<std::string> SortOperation::columns() const {
  std::vector<std::string> names = exchange_->columns();
  names.insert(names.end(), {"local_sort_s", "splitters_s", "counts_s", "final_sort_s"});
  return names;
}

void SortOperation::reset(bool verified) {
  if (!filled_) {
    input_.fill(arrays_.unsorted(), rank_);
  }
  if (verified) {
    of_input_ = summarise(arrays_.unsorted());
    arrays_.poison_sorted();
    print("unsorted", arrays_.unsorted());
  }
  local_sort_s_ = seconds_of([&] {
    // What the sort leaves as it was need not be filled again.
    filled_ = !arrays_.local_sort().run(arrays_.unsorted());
  });
  // Without it the splitters' time would contain waiting for the slowest local sort.
  wait_for_all(comm_);
  splitters_s_ = seconds_of([&] { to_ = split(arrays_.unsorted(), problem_.shares, comm_); });
  counts_s_ = seconds_of([&] { exchange_one_each(to_, from_, comm_); });
  if (std::accumulate(from_.begin(), from_.end(), std::int64_t{0}) != arrays_.sorted().count) {
    fail("the ranks disagree about how many records this one gets");
  }
}

void SortOperation::finish(Stamps& stamps) {
  wait_for_all(comm_);
  stamps.add(local_sort_s_);
  stamps.add(splitters_s_);
  stamps.add(counts_s_);
  stamps.add(seconds_of([&] { arrays_.local_sort().run(arrays_.sorted()); }));
  plant_fault(arrays_.sorted(), rank_, problem_.shares.ranks);
}

std::optional<std::string> SortOperation::verify() {
  print("sorted", arrays_.sorted());
  print_ = false;
  return find_wrong(input_, of_input_, arrays_.sorted(), problem_.shares, comm_);
}

void SortOperation::print(const std::string& title, const Records& records) const {
  if (print_) {
    print_keys(title, records, comm_);
  }
}

}  // namespace contend::probe::sort
