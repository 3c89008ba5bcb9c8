#include <doctest/doctest.h>

#include "contend/base/error.hpp"
#include "contend/routes/engines.hpp"
#include "paper_fabrics.hpp"

using namespace contend;
using contend::test::Paper;

TEST_CASE("in a ring no path leads past the switch farthest from the root") {
  // Ranks from root 0 around a ring of six: 0 1 2 3 2 1. Switch 3 is the bottom.
  const Paper paper = test::ring(6);
  const SwitchId root = 0;
  const Tables tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  // 2 to 4 over 3 would go down, then up: it takes the long way over 1, 0 and 5 (port 3 backwards).
  CHECK(paper.port(tables, 2, 5) == 3);
  CHECK(paper.port(tables, 1, 5) == 3);
  CHECK(paper.port(tables, 0, 5) == 3);
  CHECK(paper.port(tables, 5, 5) == 3);
  // minhop takes it.
  CHECK(paper.port(minhop(paper.fabric, paper.targets()), 2, 5) == 2);
  // From the bottom itself both ways up are open.
  CHECK(paper.port(tables, 3, 5) == 2);
  CHECK(paper.port(tables, 3, 3) == 3);
}

TEST_CASE("between equal ranks the switch with the smaller GUID is up") {
  // A ring of five: ranks 0 1 2 2 1; the cable between 2 and 3 joins equal ranks.
  Paper paper = test::ring(5);
  const SwitchId root = 0;
  // 3 is below 2, so 2 to 4 over 3 would go down, then up.
  Tables tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  CHECK(paper.port(tables, 2, 5) == 3);
  // 4 to 2 over 3 likewise, 1 to 3 over 2 goes down twice.
  CHECK(paper.port(tables, 4, 3) == 2);
  CHECK(paper.port(tables, 1, 4) == 2);
  std::swap(paper.guid[2], paper.guid[3]);
  // Now 2 is below 3, and 1 to 3 over 2 would go down, then up.
  tables = up_down(paper.fabric, paper.targets(), std::span(&root, 1));
  CHECK(paper.port(tables, 1, 4) == 3);
  CHECK(paper.port(tables, 4, 3) == 3);
}

TEST_CASE("roots are the switches with nearly all hosts at one distance") {
  const Paper figure = test::figure();
  CHECK(find_roots(figure.fabric) == std::vector<SwitchId>{4, 5});
  const Paper ring = test::ring(6);
  CHECK(find_roots(ring.fabric).empty());
}

TEST_CASE("on a tree, up-down takes hosts where minhop does, and no root reaches another") {
  const Paper paper = test::figure();
  const std::vector<SwitchId> roots = {4, 5};
  const Tables tables = up_down(paper.fabric, paper.targets(), roots);
  const Tables shortest = minhop(paper.fabric, paper.targets());
  for (SwitchId s = 0; s < 6; ++s) {
    for (const Address host : paper.host_address) {
      CHECK(paper.port(tables, s, host) == paper.port(shortest, s, host));
    }
  }
  CHECK(paper.port(tables, 4, paper.switch_address[5]) == kNoPort);
}

TEST_CASE("a root beyond the fabric is refused") {
  const Paper paper = test::ring(4);
  const SwitchId root = 4;
  CHECK_THROWS_AS(up_down(paper.fabric, paper.targets(), std::span(&root, 1)), Error);
}
