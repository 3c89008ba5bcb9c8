#include "sort/local_sort.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

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
  const auto copy = [&](const double* from, double* to) {
    std::copy_n(from, records.doubles, to);
  };
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

}  // namespace contend::probe::sort
