#include <doctest/doctest.h>

#include <vector>

#include "contend/base/error.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "rounds.hpp"

using contend::make_halo;
using contend::Rank;
using contend::test::Pairs;
using contend::test::round_of;
using contend::test::sorted;

namespace {

/// Targets of one rank, ascending.
std::vector<Rank> targets_of(const contend::Pattern& pattern, Rank rank) {
  std::vector<Rank> found;
  for (const auto& [from, to] : round_of(pattern, 0)) {
    if (from == rank) found.push_back(to);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

// The grid of 3 rows and 4 columns:
//   0  1  2  3
//   4  5  6  7
//   8  9 10 11
TEST_CASE("halo on a periodic grid of 3 x 4") {
  const auto halo = make_halo(12, std::vector<Rank>{3, 4}, true);
  CHECK(round_of(*halo, 0).size() == 12 * 4);
  CHECK(targets_of(*halo, 5) == std::vector<Rank>{1, 4, 6, 9});
  CHECK(targets_of(*halo, 0) == std::vector<Rank>{1, 3, 4, 8});
  CHECK(targets_of(*halo, 11) == std::vector<Rank>{3, 7, 8, 10});
}

TEST_CASE("halo on an open grid of 3 x 4") {
  const auto halo = make_halo(12, std::vector<Rank>{3, 4}, false);
  // 2 * (3 * 3 cables in rows + 2 * 4 in columns)
  CHECK(round_of(*halo, 0).size() == 34);
  CHECK(targets_of(*halo, 5) == std::vector<Rank>{1, 4, 6, 9});
  CHECK(targets_of(*halo, 0) == std::vector<Rank>{1, 4});
  CHECK(targets_of(*halo, 7) == std::vector<Rank>{3, 6, 11});
}

TEST_CASE("halo: a dimension of two has one neighbour, one of one none") {
  for (const bool periodic : {true, false}) {
    const auto halo = make_halo(4, std::vector<Rank>{2, 1, 2}, periodic);
    CHECK(targets_of(*halo, 0) == std::vector<Rank>{1, 2});
    CHECK(targets_of(*halo, 3) == std::vector<Rank>{1, 2});
  }
}

TEST_CASE("halo: a grid that has another number of places is refused") {
  for (const auto& extents : std::vector<std::vector<Rank>>{
           {}, {3, 3}, {3, 4, 2}, {0, 12}, {1U << 31, 1U << 31, 4}, {65536, 65536, 12}}) {
    CHECK_THROWS_AS(make_halo(12, extents, true), contend::Error);
  }
}

TEST_CASE("transpose on the largest square grid") {
  // 3 x 3 of 11 ranks; 0, 4, 8 lie on the diagonal, 9 and 10 are left over.
  CHECK(round_of(*contend::make_transpose(11), 0) ==
        Pairs{{1, 3}, {2, 6}, {3, 1}, {5, 7}, {6, 2}, {7, 5}});
  CHECK(round_of(*contend::make_transpose(4), 0) == Pairs{{1, 2}, {2, 1}});
  CHECK_THROWS_AS(contend::make_transpose(3), contend::Error);
}

TEST_CASE("bit reversal within the largest power of two") {
  CHECK(round_of(*contend::make_bit_reversal(8), 0) == Pairs{{1, 4}, {3, 6}, {4, 1}, {6, 3}});
  CHECK(round_of(*contend::make_bit_reversal(11), 0) == Pairs{{1, 4}, {3, 6}, {4, 1}, {6, 3}});
  CHECK(round_of(*contend::make_bit_reversal(4), 0) == Pairs{{1, 2}, {2, 1}});
}

TEST_CASE("bit complement") {
  CHECK(round_of(*contend::make_bit_complement(4), 0) == Pairs{{0, 3}, {1, 2}, {2, 1}, {3, 0}});
  CHECK(round_of(*contend::make_bit_complement(5), 0) == Pairs{{0, 4}, {1, 3}, {3, 1}, {4, 0}});
}
