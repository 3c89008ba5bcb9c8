#include "sort/memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <new>
#include <string>

#include "common/operation.hpp"
#include "common/ranks.hpp"
#include "io/host_memory.hpp"
#include "sort/records.hpp"

namespace contend::probe::sort {

namespace {

// Up to here a record is moved as fast as its place in an index, and the index would be a good part
// of a third array.
constexpr std::int64_t kShort = 8;

template <std::size_t doubles>
void sort_short(const Records& records) {
  using Record = std::array<double, doubles>;
  auto* const first = reinterpret_cast<Record*>(records.first);
  std::sort(first, first + records.count, [](const Record& left, const Record& right) {
    if constexpr (doubles > 1) {
      return left[0] < right[0] || (left[0] == right[0] && left[1] < right[1]);
    } else {
      return left[0] < right[0];
    }
  });
}

void sort_short_of(const Records& records) {
  switch (records.doubles) {
    case 1:
      return sort_short<1>(records);
    case 2:
      return sort_short<2>(records);
    case 3:
      return sort_short<3>(records);
    case 4:
      return sort_short<4>(records);
    case 5:
      return sort_short<5>(records);
    case 6:
      return sort_short<6>(records);
    case 7:
      return sort_short<7>(records);
    default:
      return sort_short<kShort>(records);
  }
}

constexpr std::int64_t kMarginShare = 32;
constexpr std::int64_t kMarginOfRank = std::int64_t{32} << 20;

std::int64_t ranks_beside(int rank, const Machines& machines) {
  const auto& names = machines.machine;
  return std::count(names.begin(), names.end(), names[static_cast<std::size_t>(rank)]);
}

}  // namespace

LocalSort::LocalSort(std::int64_t doubles, std::int64_t most_records) {
  if (doubles > kShort) {
    index_.resize(static_cast<std::size_t>(most_records));
    lifted_.resize(static_cast<std::size_t>(doubles));
  }
}

std::int64_t LocalSort::index_bytes(std::int64_t doubles, std::int64_t records) {
  return doubles > kShort ? records * static_cast<std::int64_t>(sizeof(Place)) : 0;
}

bool LocalSort::run(const Records& records) {
  if (in_order(records)) {
    return false;
  }
  if (records.doubles <= kShort) {
    sort_short_of(records);
  } else {
    sort_index(records);
    move_records(records);
  }
  return true;
}

void LocalSort::sort_index(const Records& records) {
  for (std::int64_t record = 0; record < records.count; ++record) {
    index_[static_cast<std::size_t>(record)] = {records.key(record), record};
  }
  // Among equal keys the place stands for the index: a share, and the runs that arrive from one
  // rank after the other, have equal keys in its order.
  std::sort(index_.begin(), index_.begin() + records.count,
            [](const Place& left, const Place& right) {
              return left.key < right.key || (left.key == right.key && left.record < right.record);
            });
}

// Follows each cycle of the permutation once, with one record lifted out to make room.
void LocalSort::move_records(const Records& records) {
  const auto copy = [&](const double* from, double* to) { std::copy_n(from, records.doubles, to); };
  for (std::int64_t start = 0; start < records.count; ++start) {
    std::int64_t hole = start;
    std::int64_t next = index_[static_cast<std::size_t>(hole)].record;
    if (next == start) {
      continue;
    }
    copy(records[start], lifted_.data());
    while (next != start) {
      copy(records[next], records[hole]);
      index_[static_cast<std::size_t>(hole)].record = hole;
      hole = next;
      next = index_[static_cast<std::size_t>(hole)].record;
    }
    copy(lifted_.data(), records[hole]);
    index_[static_cast<std::size_t>(hole)].record = hole;
  }
}

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
  CHECKED(MPI_Bcast, told, 2, MPI_INT64_T, refuser, comm);
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
