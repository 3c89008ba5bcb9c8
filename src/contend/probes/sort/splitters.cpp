#include "sort/splitters.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::sort {

namespace {

constexpr std::int64_t kCounts = 4096;
constexpr std::int64_t kFewestProbes = 15;
constexpr std::int64_t kMostProbes = 255;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// Words in the order of the keys. Keys are finite, and zero has no sign.
std::uint64_t word_of(double key) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof bits);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Signed numbers in the order of words, and back.
std::int64_t signed_word(std::uint64_t word) { return static_cast<std::int64_t>(word ^ kSign); }
std::uint64_t unsigned_word(std::int64_t number) {
  return static_cast<std::uint64_t>(number) ^ kSign;
}

/// What is known of one boundary between the shares of two ranks.
struct Boundary {
  /// Records of all ranks that belong below it.
  std::int64_t place;
  /// At most `place` records of all ranks are below the word `low`, and more below `high`.
  std::uint64_t low;
  std::uint64_t high;
  std::int64_t below_low;
  /// The same counts on this rank.
  std::int64_t here_below_low;
  std::int64_t here_below_high;

  [[nodiscard]] bool found() const { return below_low == place || high - low == 1; }
  /// Records with the key of `low` that belong below the boundary.
  [[nodiscard]] std::int64_t equal_below() const { return place - below_low; }
};

std::int64_t count_below(const Records& sorted, std::uint64_t word, std::int64_t from,
                         std::int64_t to) {
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (word_of(sorted.key(middle)) < word) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

/// Boundaries of which nothing is known but the smallest and the largest key. Collective.
std::vector<Boundary> unknown_boundaries(const Records& sorted, const Shares& shares,
                                         MPI_Comm comm) {
  // One maximum finds both: the smallest word is the one whose complement is largest. It is taken
  // of signed numbers, as MPICH 4.0 and Open MPI 4.1 take some unsigned ones for signed.
  std::int64_t ends[2] = {std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::min()};
  if (sorted.count > 0) {
    ends[0] = ~signed_word(word_of(sorted.key(0)));
    ends[1] = signed_word(word_of(sorted.key(sorted.count - 1)));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, comm, &request);
  wait(request);
  const std::uint64_t low = unsigned_word(~ends[0]);
  const std::uint64_t high = unsigned_word(ends[1]) + 1;
  std::vector<Boundary> made;
  for (std::int64_t rank = 1; rank < shares.ranks; ++rank) {
    if (shares.begin(rank) < shares.records) {
      made.push_back({shares.begin(rank), low, high, 0, 0, sorted.count});
    }
  }
  return made;
}

/// Counts below the probes of one boundary, here and later everywhere.
class Probes {
 public:
  Probes(const Boundary& boundary, std::int64_t count) : low_(boundary.low) {
    const std::uint64_t range = boundary.high - boundary.low;
    const std::uint64_t parts = static_cast<std::uint64_t>(count) + 1;
    step_ = range / parts + (range % parts != 0 ? 1 : 0);
    // Where the range has fewer words than there are probes, the last ones are left out.
    used_ = static_cast<std::int64_t>((range - 1) / step_);
  }

  [[nodiscard]] std::int64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t word(std::int64_t probe) const {
    return low_ + step_ * static_cast<std::uint64_t>(probe + 1);
  }

 private:
  std::uint64_t low_;
  std::uint64_t step_;
  std::int64_t used_;
};

/// Moves a boundary's range to between the two probes that enclose it.
void narrow(Boundary& boundary, const Probes& probes, const std::int64_t* here,
            const std::int64_t* everywhere) {
  const std::int64_t* const end = everywhere + probes.used();
  const std::int64_t above = std::upper_bound(everywhere, end, boundary.place) - everywhere;
  if (above < probes.used()) {
    boundary.high = probes.word(above);
    boundary.here_below_high = here[above];
  }
  if (above > 0) {
    boundary.low = probes.word(above - 1);
    boundary.below_low = everywhere[above - 1];
    boundary.here_below_low = here[above - 1];
  }
}

std::vector<std::int64_t> sum_everywhere(const std::vector<std::int64_t>& here, MPI_Comm comm) {
  std::vector<std::int64_t> sums(here.size());
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, here.data(), sums.data(), static_cast<int>(here.size()), MPI_INT64_T,
          MPI_SUM, comm, &request);
  wait(request);
  return sums;
}

/// One round for all boundaries that are not found yet; says whether there were any. Collective.
bool narrow_all(std::vector<Boundary>& boundaries, const Records& sorted, MPI_Comm comm) {
  std::vector<Boundary*> open;
  for (Boundary& boundary : boundaries) {
    if (!boundary.found()) {
      open.push_back(&boundary);
    }
  }
  if (open.empty()) {
    return false;
  }
  const std::int64_t count =
      std::clamp(kCounts / static_cast<std::int64_t>(open.size()), kFewestProbes, kMostProbes);
  std::vector<Probes> probes;
  std::vector<std::int64_t> here;
  for (const Boundary* const boundary : open) {
    const Probes made(*boundary, count);
    std::int64_t below = boundary->here_below_low;
    for (std::int64_t probe = 0; probe < made.used(); ++probe) {
      below = count_below(sorted, made.word(probe), below, boundary->here_below_high);
      here.push_back(below);
    }
    probes.push_back(made);
  }
  const std::vector<std::int64_t> everywhere = sum_everywhere(here, comm);
  std::int64_t first = 0;
  for (std::size_t place = 0; place < open.size(); ++place) {
    narrow(*open[place], probes[place], here.data() + first, everywhere.data() + first);
    first += probes[place].used();
  }
  return true;
}

/// How many records with a boundary's key lie on lower ranks, for each boundary. Collective.
std::vector<std::int64_t> equal_on_lower_ranks(const std::vector<std::int64_t>& equal_here,
                                               MPI_Comm comm) {
  std::vector<std::int64_t> lower(equal_here.size(), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iexscan, equal_here.data(), lower.data(), static_cast<int>(lower.size()), MPI_INT64_T,
          MPI_SUM, comm, &request);
  wait(request);
  if (rank_in(comm) == 0) {
    // The library leaves the first rank's result as it likes.
    std::fill(lower.begin(), lower.end(), 0);
  }
  return lower;
}

/// This rank's records below each boundary. Collective where keys are equal at one.
std::vector<std::int64_t> records_below(const std::vector<Boundary>& boundaries, MPI_Comm comm) {
  std::vector<std::int64_t> below;
  std::vector<std::int64_t> equal;
  bool divided = false;
  for (const Boundary& boundary : boundaries) {
    below.push_back(boundary.here_below_low);
    equal.push_back(boundary.here_below_high - boundary.here_below_low);
    divided = divided || boundary.equal_below() > 0;
  }
  if (divided) {
    const std::vector<std::int64_t> lower = equal_on_lower_ranks(equal, comm);
    for (std::size_t place = 0; place < below.size(); ++place) {
      const std::int64_t left = boundaries[place].equal_below() - lower[place];
      below[place] += std::clamp(left, std::int64_t{0}, equal[place]);
    }
  }
  return below;
}

}  // namespace

std::vector<std::int64_t> split(const Records& sorted, const Shares& shares, MPI_Comm comm) {
  std::vector<Boundary> boundaries = unknown_boundaries(sorted, shares, comm);
  while (narrow_all(boundaries, sorted, comm)) {
  }
  const std::vector<std::int64_t> below = records_below(boundaries, comm);
  std::vector<std::int64_t> counts;
  std::int64_t sent = 0;
  for (std::int64_t rank = 0; rank < shares.ranks; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    const std::int64_t end = place < below.size() ? below[place] : sorted.count;
    counts.push_back(end - sent);
    sent = end;
  }
  return counts;
}

}  // namespace contend::probe::sort
