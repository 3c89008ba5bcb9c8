#include <doctest/doctest.h>

#include "contend/base/error.hpp"
#include "contend/routes/engines/engines.hpp"
#include "paper_fabrics.hpp"

using namespace contend;
using contend::test::Paper;

namespace {

/// A binary three-level tree of two hosts a leaf: leaves 0-3, middle 4-7 in two pods, tops 8-11.
/// Middle switch u of a pod has tops 2u and 2u + 1 above it.
Paper three_levels() {
  std::vector<Cable> cables;
  for (SwitchId pod = 0; pod < 2; ++pod) {
    for (PortNumber k = 0; k < 2; ++k) {
      for (PortNumber u = 0; u < 2; ++u) {
        const SwitchId middle = 4 + 2 * pod + u;
        cables.push_back(
            {2 * pod + k, static_cast<PortNumber>(u + 3), middle, static_cast<PortNumber>(k + 1)});
        cables.push_back({4 + 2 * pod + k, static_cast<PortNumber>(u + 3), 8U + 2U * k + u,
                          static_cast<PortNumber>(pod + 1)});
      }
    }
  }
  return {
      {0, 0, 1, 1, 2, 2, 3, 3}, {1, 2, 1, 2, 1, 2, 1, 2}, std::vector<PortNumber>(12, 4), cables};
}

}  // namespace

TEST_CASE(
    "destination d leaves every leaf of the figure by uplink (d - 1) mod 4 and comes down by "
    "the same cable's counterpart") {
  const Paper paper = test::figure();
  const Tables tables = d_mod_k(paper.fabric, paper.targets(), Parallel::in_order_of_ports);
  for (Address d = 1; d <= 16; ++d) {
    const SwitchId home = (d - 1) / 4;
    const Address residue = (d - 1) % 4;
    for (SwitchId leaf = 0; leaf < 4; ++leaf) {
      CHECK(paper.port(tables, leaf, d) == (leaf == home ? residue + 1 : residue + 5));
    }
    CHECK(paper.port(tables, 4 + residue / 2, d) == 2 * home + residue % 2 + 1);
  }
}

TEST_CASE("parents take turns before the cables to one of them do") {
  const Paper paper = test::figure();
  const Tables tables = d_mod_k(paper.fabric, paper.targets(), Parallel::after_parents);
  // Uplinks 5 and 6 lead to the first top, 7 and 8 to the second.
  const PortNumber uplink[] = {5, 7, 6, 8};
  for (Address d = 1; d <= 12; ++d) CHECK(paper.port(tables, 3, d) == uplink[(d - 1) % 4]);
}

TEST_CASE("level l goes by digit l of the destination: floor(d / 2^l) mod 2") {
  const Paper paper = three_levels();
  const Tables tables = d_mod_k(paper.fabric, paper.targets(), Parallel::after_parents);
  for (Address d = 0; d < 8; ++d) {
    for (SwitchId leaf = 0; leaf < 4; ++leaf) {
      if (leaf != d / 2) CHECK(paper.port(tables, leaf, d + 1) == 3 + d % 2);
    }
    for (SwitchId middle = 4; middle < 8; ++middle) {
      const bool same_pod = (middle - 4) / 2 == d / 4;
      const Address expected = same_pod ? 1 + d / 2 % 2 : 3 + d / 2 % 2;
      CHECK(paper.port(tables, middle, d + 1) == expected);
    }
  }
}

TEST_CASE("every switch reaches every switch's own address") {
  const Paper paper = three_levels();
  const Tables tables = d_mod_k(paper.fabric, paper.targets(), Parallel::after_parents);
  for (SwitchId s = 0; s < 12; ++s) {
    for (SwitchId to = 0; to < 12; ++to) {
      const PortNumber port = paper.port(tables, s, paper.switch_address[to]);
      CHECK((s == to ? port == 0 : port >= 1 && port <= 4));
    }
  }
}

TEST_CASE("only parents that still reach the destination are taken") {
  // Two leaves, two tops; the second leaf has lost its cable to the first top.
  const Paper paper({0, 1, 1}, {1, 1, 2}, {4, 4, 4, 4}, {{0, 3, 2, 1}, {0, 4, 3, 1}, {1, 4, 3, 2}});
  const Tables tables = d_mod_k(paper.fabric, paper.targets(), Parallel::after_parents);
  CHECK(paper.port(tables, 0, 2) == 4);
  CHECK(paper.port(tables, 0, 3) == 4);
  CHECK(paper.port(tables, 2, 2) == kNoPort);
}

TEST_CASE("what is no tree is refused, and the cable named that makes it none") {
  const Paper ring = test::ring(3);
  CHECK(tree_fault(ring.fabric) == std::vector<SwitchId>{0, 1, 0});
  CHECK_THROWS_AS(d_mod_k(ring.fabric, ring.targets(), Parallel::after_parents), Error);
  CHECK(tree_fault(test::figure().fabric).empty());
}
