#include <doctest/doctest.h>
#include <omp.h>

#include "contend/base/error.hpp"
#include "contend/routes/engines/engines.hpp"
#include "paper_fabrics.hpp"

using namespace contend;
using contend::test::Paper;

TEST_CASE("minhop deals the ports on shortest paths out in turn, leaf after leaf") {
  const Paper paper = test::figure();
  const Tables tables = minhop(paper.fabric, paper.targets());
  // From leaf 0 the hosts of leaves 1, 2 and 3 take uplinks 5, 6, 7, 8 each.
  for (Address host = 5; host <= 16; ++host) {
    CHECK(paper.port(tables, 0, host) == 5 + (host - 1) % 4);
  }
  for (Address host = 1; host <= 4; ++host) CHECK(paper.port(tables, 0, host) == host);
  // From the top switch every leaf has two ports, and four hosts to deal them to.
  for (Address host = 1; host <= 16; ++host) {
    CHECK(paper.port(tables, 4, host) == 2 * ((host - 1) / 4) + 1 + (host - 1) % 2);
  }
}

TEST_CASE("switches' addresses take the least used port and don't count") {
  const Paper paper = test::figure();
  const Tables tables = minhop(paper.fabric, paper.targets());
  // Leaf 0 has given three hosts to each uplink: switches get the lowest that leads there.
  CHECK(paper.port(tables, 0, paper.switch_address[0]) == 0);
  CHECK(paper.port(tables, 0, paper.switch_address[1]) == 5);
  CHECK(paper.port(tables, 0, paper.switch_address[3]) == 5);
  CHECK(paper.port(tables, 0, paper.switch_address[5]) == 7);
}

TEST_CASE("the switch with most hosts is dealt out first, then by GUID with its bytes reversed") {
  // Switch 0 reaches 1, 2 and 3 by either of two middle switches (4 by port 1, 5 by port 2).
  const std::vector<Cable> cables = {{0, 1, 4, 1}, {0, 2, 5, 1}, {1, 1, 4, 2}, {1, 2, 5, 2},
                                     {2, 1, 4, 3}, {2, 2, 5, 3}, {3, 1, 4, 4}, {3, 2, 5, 4}};
  Paper paper({1, 2, 2, 3}, {3, 3, 4, 3}, std::vector<PortNumber>(6, 4), cables);
  // Host 1 hangs on switch 1, hosts 2 and 3 on switch 2, host 4 on switch 3.
  paper.guid = {1, 0x0000'0000'0000'0002, 3, 0x0100'0000'0000'0001, 5, 6};
  // Reversed, 0x02 << 56 of switch 1 is larger than 0x01 << 56 | 0x01 of switch 3.
  const Tables tables = minhop(paper.fabric, paper.targets());
  CHECK(paper.port(tables, 0, 2) == 1);
  CHECK(paper.port(tables, 0, 3) == 2);
  CHECK(paper.port(tables, 0, 4) == 1);
  CHECK(paper.port(tables, 0, 1) == 2);
}

TEST_CASE("an island has no entries for the others") {
  const Paper paper({0, 1}, {1, 1}, {2, 2}, {});
  const Tables tables = minhop(paper.fabric, paper.targets());
  CHECK(paper.port(tables, 0, 1) == 1);
  CHECK(paper.port(tables, 0, 2) == kNoPort);
  CHECK(paper.port(tables, 0, paper.switch_address[1]) == kNoPort);
}

TEST_CASE("a host's further addresses go by boxes and switches that its earlier ones don't use") {
  Paper paper = test::figure();
  paper.host_lmc.assign(16, 1);
  for (std::size_t h = 0; h < 16; ++h) paper.host_address[h] = static_cast<Address>(2 * h + 2);
  for (std::size_t s = 0; s < 6; ++s) paper.switch_address[s] = static_cast<Address>(40 + s);
  const Tables tables = minhop(paper.fabric, paper.targets());
  // Uplinks 5 and 6 lead to one top switch, 7 and 8 to the other.
  for (Address host = 4; host < 16; ++host) {
    const PortNumber first = paper.port(tables, 0, 2 * host + 2);
    const PortNumber second = paper.port(tables, 0, 2 * host + 3);
    CHECK((first <= 6) == (second >= 7));
  }
}

TEST_CASE("dimension order takes the neighbour behind the lowest port, but all cables to it") {
  // 0 to 3 over 1 (two cables, ports 1 and 3) or 2 (port 2).
  const std::vector<Cable> cables = {
      {0, 1, 1, 1}, {0, 2, 2, 1}, {0, 3, 1, 2}, {1, 3, 3, 1}, {2, 3, 3, 2}};
  const Paper paper({3, 3, 3}, {3, 4, 5}, {5, 5, 5, 5}, cables);
  const Tables any = minhop(paper.fabric, paper.targets());
  CHECK(paper.port(any, 0, 1) == 1);
  CHECK(paper.port(any, 0, 2) == 2);
  CHECK(paper.port(any, 0, 3) == 3);
  const Tables ordered = dimension_order(paper.fabric, paper.targets());
  CHECK(paper.port(ordered, 0, 1) == 1);
  CHECK(paper.port(ordered, 0, 2) == 3);
  CHECK(paper.port(ordered, 0, 3) == 1);
}

TEST_CASE("tables don't depend on the number of threads") {
  const Paper paper = test::ring(97);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Tables one = minhop(paper.fabric, paper.targets());
  omp_set_num_threads(4);
  const Tables four = minhop(paper.fabric, paper.targets());
  omp_set_num_threads(before);
  CHECK(one == four);
}

TEST_CASE("targets that don't fit the fabric are refused") {
  const Paper good = test::ring(4);
  CHECK_NOTHROW(check_targets(good.fabric, good.targets()));
  Paper twice = good;
  twice.host_address[1] = twice.host_address[0];
  CHECK_THROWS_AS(check_targets(twice.fabric, twice.targets()), Error);
  Paper overlap = good;
  overlap.host_lmc[0] = 1;
  CHECK_THROWS_AS(check_targets(overlap.fabric, overlap.targets()), Error);
  Targets few = good.targets();
  few.addresses = 5;
  CHECK_THROWS_AS(check_targets(good.fabric, few), Error);
  Targets other = good.targets();
  other.switches = other.switches.first(3);
  CHECK_THROWS_AS(check_targets(good.fabric, other), Error);
  Paper many = good;
  many.host_lmc[3] = 8;
  CHECK_THROWS_AS(check_targets(many.fabric, many.targets()), Error);
}
