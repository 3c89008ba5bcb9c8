#include "sort/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <string>

#include "common/operation.hpp"
#include "common/ranks.hpp"
#include "io/host_memory.hpp"
#include "sort/local_sort.hpp"
#include "sort/records.hpp"

namespace contend::probe::sort {

namespace {

constexpr std::int64_t kMarginShare = 32;
constexpr std::int64_t kMarginOfRank = std::int64_t{32} << 20;

std::int64_t ranks_beside(int rank, const Machines& machines) {
  const auto& names = machines.machine;
  return std::count(names.begin(), names.end(), names[static_cast<std::size_t>(rank)]);
}

}  // namespace

Need need_of(const Shares& shares, std::int64_t doubles) {
  const auto vector = doubles * static_cast<std::int64_t>(sizeof(double));
  return {2 * shares.longest() * vector, LocalSort::index_bytes(doubles, shares.longest())};
}

void ask_for(const Need& need, const Machines& machines, MPI_Comm comm) {
  const int rank = rank_in(comm);
  // Other ranks of this machine may still be giving back what the cell before needed.
  wait_for_all(comm);
  const std::int64_t available = available_memory();
  const std::int64_t ranks = ranks_beside(rank, machines);
  const std::int64_t usable = available - available / kMarginShare - kMarginOfRank * ranks;
  const bool lacks = need.all() > std::max<std::int64_t>(0, usable) / ranks;
  const int refuser = first_refusing(lacks, comm);
  if (refuser == size_of(comm)) {
    return;
  }
  std::int64_t told[2] = {available, ranks};
  check("MPI_Bcast", MPI_Bcast(told, 2, MPI_INT64_T, refuser, comm));
  throw NoMemory("not enough memory: a rank needs " + std::to_string(need.arrays) +
                 " bytes of arrays and " + std::to_string(need.index) + " of index; host " +
                 machines.host[static_cast<std::size_t>(refuser)] + " has " +
                 std::to_string(told[0]) + " available for " + std::to_string(told[1]) +
                 (told[1] == 1 ? " rank" : " ranks"));
}

Arrays::Arrays(const Shares& shares, std::int64_t doubles, const Machines& machines,
               MPI_Comm comm) {
  ask_for(need_of(shares, doubles), machines, comm);
  const std::int64_t records = shares.length(rank_in(comm));
  bool has_memory = true;
  try {
    // Writes zeros, so every page is there before anything is timed.
    unsorted_memory_.resize(static_cast<std::size_t>(records * doubles));
    sorted_memory_.resize(static_cast<std::size_t>(records * doubles));
    local_sort_ = LocalSort(doubles, records);
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  agree(has_memory, comm);
  unsorted_ = {unsorted_memory_.data(), records, doubles};
  sorted_ = {sorted_memory_.data(), records, doubles};
}

void Arrays::poison_sorted() {
  std::fill(sorted_memory_.begin(), sorted_memory_.end(), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace contend::probe::sort
