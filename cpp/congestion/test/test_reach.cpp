#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/reach.hpp"

using namespace contend;

namespace {

/// Leaves of hosts that all take part, numbered without gaps.
std::vector<std::uint32_t> leaves_of(const Fabric& fabric) {
  std::vector<std::uint32_t> number(fabric.switches(), 0);
  std::set<SwitchId> with_hosts;
  for (HostId h = 0; h < fabric.hosts(); ++h) with_hosts.insert(fabric.host_switch(h));
  std::uint32_t next = 0;
  for (const SwitchId s : with_hosts) number[s] = next++;
  std::vector<std::uint32_t> leaf;
  for (HostId h = 0; h < fabric.hosts(); ++h) leaf.push_back(number[fabric.host_switch(h)]);
  return leaf;
}

}  // namespace

TEST_CASE("reach on a ring walked clockwise") {
  // Channel 2 s leads from switch s to s + 1. With 4 hosts it carries s -> t for all t but s, 3 of
  // them; s - 1 -> t for 2, s - 2 -> s + 1: sources s, s - 1, s - 2, targets s + 1, s + 2, s + 3.
  const contend::test::ClockwiseRing ring(4);
  const auto resolver = ring.tabled(contend::test::all_hosts(ring.fabric));
  const std::vector<std::uint32_t> leaf{0, 1, 2, 3};
  const Reach reach = channel_reach(*resolver, leaf);
  CHECK(reach.sources == std::vector<std::uint32_t>{3, 0, 3, 0, 3, 0, 3, 0});
  CHECK(reach.targets == std::vector<std::uint32_t>{3, 0, 3, 0, 3, 0, 3, 0});
  const LeafPairs pairs = pairs_across(*resolver, leaf, 0);
  CHECK(pairs.leaf == std::vector<std::uint32_t>{0, 0, 0, 2, 3, 3});
  CHECK(pairs.target == std::vector<Place>{1, 2, 3, 1, 1, 2});
}

TEST_CASE("reach is that of all routes, one after the other") {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const auto on = contend::test::make_random_fabric(seed, 9, 25, 10);
    const auto resolver = on.tabled(contend::test::all_hosts(on.fabric));
    const std::size_t channels = resolver->switch_channels();
    std::vector<std::set<Place>> sources(channels);
    std::vector<std::set<Place>> targets(channels);
    std::vector<std::set<std::pair<std::uint32_t, Place>>> pairs(channels);
    const auto leaf = leaves_of(on.fabric);
    std::vector<std::uint32_t> route(resolver->stride());
    for (Place s = 0; s < resolver->places(); ++s) {
      for (Place t = 0; t < resolver->places(); ++t) {
        if (s == t) continue;
        resolver->resolve({&s, 1}, {&t, 1}, route.data());
        for (const std::uint32_t c : route) {
          if (c >= channels) continue;
          sources[c].insert(s);
          targets[c].insert(t);
          pairs[c].emplace(leaf[s], t);
        }
      }
    }
    const Reach reach = channel_reach(*resolver, leaf);
    for (std::uint32_t c = 0; c < channels; ++c) {
      CHECK(reach.sources[c] == sources[c].size());
      CHECK(reach.targets[c] == targets[c].size());
      const LeafPairs found = pairs_across(*resolver, leaf, c);
      std::set<std::pair<std::uint32_t, Place>> as_set;
      for (std::size_t i = 0; i < found.leaf.size(); ++i) {
        as_set.emplace(found.leaf[i], found.target[i]);
      }
      CHECK(as_set == pairs[c]);
    }
  }
}

TEST_CASE("leaves and channels that do not fit are refused") {
  const contend::test::ClockwiseRing ring(3);
  const auto resolver = ring.tabled(contend::test::all_hosts(ring.fabric));
  const auto reach = [&](const std::vector<std::uint32_t>& leaf) {
    return channel_reach(*resolver, leaf);
  };
  CHECK_THROWS_AS(reach({0, 1}), Error);
  CHECK_THROWS_AS(reach({0, 2, 2}), Error);
  CHECK_THROWS_AS(reach({0, 1, 7}), Error);
  CHECK_THROWS_AS(pairs_across(*resolver, std::vector<std::uint32_t>{0, 1, 2}, 6), Error);
}
