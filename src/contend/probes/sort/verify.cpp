#include "sort/verify.hpp"

#include <cstring>
#include <vector>

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::sort {

namespace {

/// What every rank tells all others: the whole verification costs one gathering.
struct Told {
  Summary input;
  Summary output;
  double first[2] = {0, 0};
  double last[2] = {0, 0};
};

/// A hash of 64 bits that reads every double's bits.
std::uint64_t hash(const double* values, std::int64_t doubles, std::uint64_t multiplier) {
  std::uint64_t state = multiplier;
  for (std::int64_t place = 0; place < doubles; ++place) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, values + place, sizeof bits);
    state = (state ^ bits) * multiplier;
    state ^= state >> 32;
  }
  return (state ^ (state >> 29)) * multiplier;
}

/// Whether one record may stand before another: by its key, then by its index.
bool may_precede(const double* left, const double* right, std::int64_t doubles) {
  return left[0] < right[0] || (left[0] == right[0] && (doubles == 1 || left[1] < right[1]));
}

void copy_start(const Records& records, std::int64_t record, double* start) {
  start[0] = records.key(record);
  start[1] = records.doubles > 1 ? records[record][1] : 0;
}

std::vector<Told> tell_all(const Told& mine, MPI_Comm comm) {
  std::vector<Told> all(static_cast<std::size_t>(size_of(comm)));
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallgather, &mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm,
          &request);
  wait(request);
  return all;
}

std::optional<std::string> wrong_order(const Records& sorted) {
  for (std::int64_t record = 1; record < sorted.count; ++record) {
    if (!may_precede(sorted[record - 1], sorted[record], sorted.doubles)) {
      return "record " + std::to_string(record) + " is not in order";
    }
  }
  return std::nullopt;
}

std::optional<std::string> wrong_record(const Input& input, const Records& sorted) {
  if (sorted.doubles == 1) {
    return std::nullopt;
  }
  const auto end = static_cast<double>(input.size());
  for (std::int64_t record = 0; record < sorted.count; ++record) {
    const double index = sorted[record][1];
    const bool known = index >= 0 && index < end;
    if (!known || !input.matches(sorted, record, static_cast<std::int64_t>(index))) {
      return "record " + std::to_string(record) + " is not one of the input";
    }
  }
  return std::nullopt;
}

std::optional<std::string> wrong_boundary(const std::vector<Told>& all, int rank,
                                          std::int64_t doubles) {
  const Told& mine = all[static_cast<std::size_t>(rank)];
  for (int before = rank - 1; before >= 0 && mine.output.count > 0; --before) {
    const Told& other = all[static_cast<std::size_t>(before)];
    if (other.output.count > 0) {
      if (may_precede(other.last, mine.first, doubles)) {
        break;
      }
      return "its first record belongs before the last of rank " + std::to_string(before);
    }
  }
  return std::nullopt;
}

std::optional<std::string> wrong_whole(const std::vector<Told>& all) {
  Summary input;
  Summary output;
  for (const Told& told : all) {
    input.add(told.input);
    output.add(told.output);
  }
  if (input == output) {
    return std::nullopt;
  }
  return "the " + std::to_string(output.count) +
         " records of all ranks are not a permutation of the " + std::to_string(input.count) +
         " of the input";
}

}  // namespace

void Summary::add(const Summary& other) {
  count += other.count;
  first += other.first;
  second += other.second;
}

bool Summary::operator==(const Summary& other) const {
  return count == other.count && first == other.first && second == other.second;
}

Summary summarise(const Records& records) {
  Summary all;
  for (std::int64_t record = 0; record < records.count; ++record) {
    const double* const values = records[record];
    all.add({1, hash(values, records.doubles, 0xff51afd7ed558ccdu),
             hash(values, records.doubles, 0xc4ceb9fe1a85ec53u)});
  }
  return all;
}

std::optional<std::string> find_wrong(const Input& input, const Summary& of_input,
                                      const Records& sorted, const Shares& shares, MPI_Comm comm) {
  const int rank = rank_in(comm);
  Told mine;
  mine.input = of_input;
  mine.output = summarise(sorted);
  if (sorted.count > 0) {
    copy_start(sorted, 0, mine.first);
    copy_start(sorted, sorted.count - 1, mine.last);
  }
  const std::vector<Told> all = tell_all(mine, comm);
  if (sorted.count != shares.length(rank)) {
    return "it has " + std::to_string(sorted.count) + " records instead of " +
           std::to_string(shares.length(rank));
  }
  if (auto wrong = wrong_order(sorted)) {
    return wrong;
  }
  if (auto wrong = wrong_record(input, sorted)) {
    return wrong;
  }
  if (auto wrong = wrong_boundary(all, rank, sorted.doubles)) {
    return wrong;
  }
  return wrong_whole(all);
}

}  // namespace contend::probe::sort
