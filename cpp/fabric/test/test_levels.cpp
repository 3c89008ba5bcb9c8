#include <doctest/doctest.h>

#include "contend/fabric/levels.hpp"

using namespace contend;

namespace {

/// Leaves 0 .. leaves - 1 of so many hosts under spines that follow, and more hosts on switches.
Fabric leaves_and_spines(SwitchId leaves, PortNumber hosts, SwitchId spines,
                         std::vector<SwitchId> more = {}, std::vector<Cable> cables = {},
                         SwitchId more_switches = 0) {
  std::vector<SwitchId> at;
  std::vector<PortNumber> port;
  for (SwitchId leaf = 0; leaf < leaves; ++leaf) {
    for (PortNumber k = 1; k <= hosts; ++k) {
      at.push_back(leaf);
      port.push_back(k);
    }
    for (SwitchId spine = 0; spine < spines; ++spine) {
      cables.push_back({leaf, static_cast<PortNumber>(hosts + spine + 1), leaves + spine,
                        static_cast<PortNumber>(leaf + 1)});
    }
  }
  for (std::size_t k = 0; k < more.size(); ++k) {
    at.push_back(more[k]);
    port.push_back(static_cast<PortNumber>(30 + k));
  }
  return {at, port, std::vector<PortNumber>(leaves + spines + more_switches, 60), cables};
}

using LevelNumbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a leaf without hosts is a leaf that no path needs") {
  // Switch 6 is cabled to both spines.
  const Levels levels =
      find_levels(leaves_and_spines(4, 3, 2, {}, {{6, 1, 4, 9}, {6, 2, 5, 9}}, 1));
  CHECK(levels.of == LevelNumbers{1, 1, 1, 1, 2, 2, 1});
  CHECK(levels.needed[6] == 0);
}

TEST_CASE("what no path can reach stands on no level") {
  const Levels levels = find_levels(leaves_and_spines(2, 2, 1, {}, {}, 1));
  CHECK(levels.of == LevelNumbers{1, 1, 2, 0});
}
