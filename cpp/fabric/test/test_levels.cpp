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

TEST_CASE("a few hosts on a spine leave it where it is") {
  const Levels levels = find_levels(leaves_and_spines(4, 3, 2, {4, 4}));
  CHECK(levels.of == LevelNumbers{1, 1, 1, 1, 2, 2});
  CHECK(levels.needed == std::vector<std::uint8_t>(6, 1));
}

TEST_CASE("a leaf without hosts is a leaf that no path needs") {
  // Switch 6 is cabled to both spines.
  const Levels levels =
      find_levels(leaves_and_spines(4, 3, 2, {}, {{6, 1, 4, 9}, {6, 2, 5, 9}}, 1));
  CHECK(levels.of == LevelNumbers{1, 1, 1, 1, 2, 2, 1});
  CHECK(levels.needed[6] == 0);
}

TEST_CASE("a leaf without hosts is no spine where a short path leads over it") {
  // Lines 0 to 3 below spines 4 and 5; leaf 6 + i hangs on lines i and i + 1, and 9 has no hosts.
  std::vector<Cable> cables;
  for (SwitchId leaf = 0; leaf < 4; ++leaf) {
    const auto port = static_cast<PortNumber>(20 + leaf);
    cables.push_back({6 + leaf, 11, leaf, 10});
    cables.push_back({6 + leaf, 12, (leaf + 1) % 4, 11});
    cables.push_back({leaf, 12, 4, port});
    cables.push_back({leaf, 13, 5, port});
  }
  const Fabric fabric({6, 7, 8}, {1, 1, 1}, std::vector<PortNumber>(10, 60), cables);
  const Levels levels = find_levels(fabric);
  CHECK(levels.of == LevelNumbers{2, 2, 2, 2, 3, 3, 1, 1, 1, 1});
}

TEST_CASE("a switch with hosts below a leaf moves nothing else") {
  const Levels levels = find_levels(leaves_and_spines(4, 3, 2, {6}, {{6, 1, 0, 20}}, 1));
  CHECK(levels.of == LevelNumbers{1, 1, 1, 1, 2, 2, 1});
}

TEST_CASE("what no path can reach stands on no level") {
  const Levels levels = find_levels(leaves_and_spines(2, 2, 1, {}, {}, 1));
  CHECK(levels.of == LevelNumbers{1, 1, 2, 0});
}

TEST_CASE("a ring has no up and no down") {
  std::vector<Cable> cables;
  std::vector<SwitchId> at;
  for (SwitchId s = 0; s < 6; ++s) {
    cables.push_back({s, 1, (s + 1) % 6, 2});
    at.push_back(s);
  }
  const Fabric ring(at, std::vector<PortNumber>(6, 3), std::vector<PortNumber>(6, 3), cables);
  CHECK(find_levels(ring).of == LevelNumbers(6, 1));
}
