#include "contend/base/progress.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "contend/base/threads.hpp"
#include "contend/base/tiles.hpp"

using namespace contend;

TEST_CASE("a thread that does nothing has no share") {
  CHECK(share_done() < 0);
  {
    const Progress some(3);
  }
  CHECK(share_done() < 0);
}

TEST_CASE("what begins within a part is a share of that part") {
  Progress outer(4);
  CHECK(share_done() == 0);
  outer.done();
  CHECK(share_done() == doctest::Approx(0.25));
  {
    Progress inner(2);
    inner.done();
    CHECK(share_done() == doctest::Approx(0.375));
  }
  // It never falls.
  CHECK(share_done() == doctest::Approx(0.375));
  outer.done(3);
  CHECK(share_done() == 1);
  outer.done();
  CHECK(share_done() == 1);
}

TEST_CASE("parts side by side are taken to be as far as this one") {
  const Progress outer(4, 2);
  Progress inner(2);
  inner.done();
  CHECK(share_done() == doctest::Approx(0.25));
}

TEST_CASE("work that takes several parts is as far as what begins within it") {
  Progress outer(8, 0);
  outer.begin(2);
  outer.begin(4);
  CHECK(share_done() == doctest::Approx(0.25));
  Progress inner(2);
  inner.done();
  CHECK(share_done() == doctest::Approx(0.5));
}

TEST_CASE("a loop in parts counts them, and work of none is none") {
  std::vector<double> shares;
  for (const std::uint32_t part : InParts(std::uint32_t{4})) {
    CHECK(part == shares.size());
    shares.push_back(share_done());
  }
  CHECK(shares == std::vector<double>{0, 0.25, 0.5, 0.75});
  for (const std::size_t part : InParts(std::size_t{0})) FAIL("part " << part);
}

TEST_CASE("threads that share work are a share of what the calling one does") {
  for (const int threads : {1, 2}) {
    thread_local std::vector<double> shares;
    shares.clear();
    const Interruption look([] { shares.push_back(share_done()); }, std::chrono::nanoseconds(0));
    Progress outer(2);
    for (int half = 0; half < 2; ++half) {
      in_parallel(threads, 64, 4, [](const Pieces& pieces) {
        for (const std::size_t piece : pieces) CHECK(piece < 64);
      });
      outer.done();
      CHECK(share_done() == doctest::Approx(0.5 * (half + 1)));
    }
    CHECK(std::is_sorted(shares.begin(), shares.end()));
    // The other thread may have taken all.
    if (threads > 1) continue;
    REQUIRE(!shares.empty());
    CHECK(shares.front() == 0);
    CHECK(shares.back() > 0.9);
  }
}

TEST_CASE("tiles visit every place once") {
  constexpr std::pair<std::size_t, std::size_t> kSizes[] = {{0, 5}, {1, 1}, {33, 70}, {64, 31}};
  for (const auto& [rows, columns] : kSizes) {
    std::vector<int> seen(rows * columns, 0);
    for_each_in_tiles(rows, columns,
                      [&](std::size_t row, std::size_t at) { ++seen[row * columns + at]; });
    CHECK(seen == std::vector<int>(rows * columns, 1));
  }
}
