#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/fabric/minimum_cut.hpp"

using namespace contend;

namespace {

struct Edges {
  std::uint32_t nodes;
  std::vector<std::uint32_t> tail, head;
  std::vector<std::int64_t> limit;

  FlowNetwork network() const { return {nodes, tail, head, limit}; }

  std::int64_t across(const std::vector<std::uint8_t>& near) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < tail.size(); ++k) {
      if (near[tail[k]] && !near[head[k]]) sum += limit[k];
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("the narrowest place of a line is cut, and of two the one nearer to the source") {
  const Edges line = {5, {0, 1, 2, 3}, {1, 2, 3, 4}, {9, 3, 5, 3}};
  CHECK(minimum_cut(line.network(), 0, 4) == std::vector<std::uint8_t>{1, 1, 0, 0, 0});
}

TEST_CASE("flow that went the wrong way is taken back: both ways through the middle count") {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3 carry 1 each, and 1 -> 2 tempts the first path.
  const Edges diamond = {4, {0, 0, 1, 1, 2}, {1, 2, 2, 3, 3}, {1, 1, 1, 1, 1}};
  const auto near = minimum_cut(diamond.network(), 0, 3);
  CHECK(diamond.across(near) == 2);
  CHECK(near == std::vector<std::uint8_t>{1, 0, 0, 0});
}

TEST_CASE("a sink that nothing leads to is cut off for nothing") {
  const Edges apart = {3, {0, 2}, {1, 1}, {7, 7}};
  CHECK(minimum_cut(apart.network(), 0, 2) == std::vector<std::uint8_t>{1, 1, 0});
}

TEST_CASE("no cut of a small random network is narrower, of 2^6 each") {
  std::mt19937 draw(1);
  for (int round = 0; round < 200; ++round) {
    Edges edges = {8, {}, {}, {}};
    for (int edge = 0; edge < 20; ++edge) {
      edges.tail.push_back(draw() % 8);
      edges.head.push_back(draw() % 8);
      edges.limit.push_back(draw() % 10);
    }
    const auto near = minimum_cut(edges.network(), 0, 7);
    REQUIRE(near[0] == 1);
    REQUIRE(near[7] == 0);
    std::int64_t narrowest = edges.across(near);
    for (unsigned middle = 0; middle < 64; ++middle) {
      std::vector<std::uint8_t> side = {1, 0, 0, 0, 0, 0, 0, 0};
      for (unsigned node = 1; node < 7; ++node) side[node] = (middle >> (node - 1)) & 1;
      CHECK(edges.across(side) >= narrowest);
    }
  }
}

TEST_CASE("what is no network is refused") {
  const Edges edges = {2, {0}, {1}, {1}};
  CHECK_THROWS_AS(minimum_cut(edges.network(), 0, 0), Error);
  CHECK_THROWS_AS(minimum_cut(edges.network(), 0, 2), Error);
  const Edges outside = {2, {0}, {2}, {1}};
  CHECK_THROWS_AS(minimum_cut(outside.network(), 0, 1), Error);
  const Edges negative = {2, {0}, {1}, {-1}};
  CHECK_THROWS_AS(minimum_cut(negative.network(), 0, 1), Error);
}
