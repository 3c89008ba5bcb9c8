#include <doctest/doctest.h>

#include <vector>

#include "contend/fabric/grid.hpp"

using namespace contend;

namespace {

/// A torus of 3 x 2: rings of three with stride 2, lines of two within.
std::vector<Cable> cables_of_torus() {
  std::vector<Cable> cables;
  for (SwitchId s = 0; s < 6; ++s) cables.push_back({s, 1, (s + 2) % 6, 2});
  for (SwitchId s = 0; s < 6; s += 2) cables.push_back({s, 3, s + 1, 3});
  return cables;
}

Fabric torus(const std::vector<Cable>& cables) {
  return {{0, 5}, {4, 4}, std::vector<PortNumber>(6, 4), cables};
}

}  // namespace

TEST_CASE("a torus is known by its cables, in whatever order these are") {
  std::vector<Cable> cables = cables_of_torus();
  for (int turned = 0; turned < 2; ++turned) {
    const Fabric fabric = torus(cables);
    const auto found = find_grid(fabric);
    REQUIRE(found);
    REQUIRE(found->dimensions().size() == 2);
    CHECK(found->switches() == 6);
    CHECK(found->dimensions()[0].size == 3);
    CHECK(found->dimensions()[0].stride == 2);
    CHECK(found->dimensions()[0].line == Grid::Line::ring);
    CHECK(found->dimensions()[1].size == 2);
    CHECK(found->dimensions()[1].line == Grid::Line::full);
    CHECK(found->hop(4, 0).to == 0);
    CHECK(found->hop(4, 1).to == 2);
    CHECK(found->hop(4, 2).to == 5);
    const std::vector<HostId> hosts{0, 1};
    CHECK(found->longest(fabric, hosts) == 2);
    cables = {cables.rbegin(), cables.rend()};
  }
}

TEST_CASE("on a ring the shorter way counts, and both where they are alike") {
  const Grid::Dimension ring{6, 1, 1, Grid::Line::ring, 4};
  CHECK(Grid::towards(ring, 1, 3).first == 4);
  CHECK(Grid::towards(ring, 1, 5).first == 5);
  CHECK(Grid::towards(ring, 5, 1).first == 4);
  CHECK(Grid::towards(ring, 1, 4).count == 2);
  CHECK(Grid::towards(ring, 2, 2).count == 0);
}

TEST_CASE("a line of two switches has at most 255 cables") {
  for (const PortNumber links : {PortNumber{255}, PortNumber{256}}) {
    std::vector<Cable> cables;
    for (PortNumber port = 1; port <= links; ++port) cables.push_back({0, port, 1, port});
    const auto end = static_cast<PortNumber>(links + 1);
    const auto found = find_grid({{0, 1}, {end, end}, {end, end}, cables});
    CHECK((found != nullptr) == (links == 255));
    if (found) CHECK(found->dimensions()[0].links == 255);
  }
}
