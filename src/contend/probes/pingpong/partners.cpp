#include "pingpong/partners.hpp"

#include <mpi.h>

#include "common/sizes.hpp"

namespace contend::probe::pingpong {

namespace {

const std::string kAllShifts = "all-shifts";
const std::string kShift = "shift-";

// The two ranks of "A-B".
std::vector<std::int64_t> ends_of(const std::string& pair, int ranks) {
  std::vector<std::int64_t> ends;
  const std::vector<std::string> words = split_text(pair, '-');
  try {
    for (const std::string& word : words) {
      ends.push_back(parse_integer(word, 0));
    }
  } catch (const BadInput&) {
    ends.clear();
  }
  const bool good = ends.size() == 2 && ends[0] != ends[1];
  if (!good) {
    throw BadInput("--pairs: expected two ranks such as 0-1, or " + kAllShifts + ", got '" + pair +
                   "'");
  }
  if (ends[0] >= ranks || ends[1] >= ranks) {
    throw BadInput("--pairs: expected ranks below " + std::to_string(ranks) +
                   ", the number of ranks, got '" + pair + "'");
  }
  return ends;
}

}  // namespace

bool Partners::any() const { return to != MPI_PROC_NULL || from != MPI_PROC_NULL; }

std::vector<std::string> name_pairs(const std::string& text, int ranks) {
  std::vector<std::string> names;
  for (const std::string& word : split_text(text, ',')) {
    if (word != kAllShifts) {
      static_cast<void>(ends_of(word, ranks));
      names.push_back(word);
      continue;
    }
    for (int shift = 1; shift <= ranks / 2; ++shift) {
      names.push_back(kShift + std::to_string(shift));
    }
  }
  return names;
}

Partners partners_in(const std::string& pairs, int rank, int ranks) {
  if (pairs.compare(0, kShift.size(), kShift) == 0) {
    const int shift = static_cast<int>(parse_integer(pairs.substr(kShift.size()), 1));
    return {(rank + shift) % ranks, (rank - shift + ranks) % ranks};
  }
  const std::vector<std::int64_t> ends = ends_of(pairs, ranks);
  return {rank == ends[0] ? static_cast<int>(ends[1]) : MPI_PROC_NULL,
          rank == ends[1] ? static_cast<int>(ends[0]) : MPI_PROC_NULL};
}

}  // namespace contend::probe::pingpong
