#include "contend/routes/split/part_lists.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "contend/routes/split/ways.hpp"
#include "random_fabric.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Pods of leaves below a plane of top switches for each of their spines, hosts on the leaves.
/// `cables(leaf, spine)` and `more(spine, top)` say how many cables each have, spines and tops by
/// their numbers among all.
struct Pods {
  SwitchId pods, leaves, spines, tops;

  template <class Below, class Above>
  Fabric build(const Below& below, const Above& above) const {
    const SwitchId first_spine = pods * leaves;
    const SwitchId first_top = first_spine + pods * spines;
    std::vector<PortNumber> used(first_top + spines * tops, 0);
    std::vector<Cable> cables;
    const auto connect = [&](SwitchId a, SwitchId b, std::uint32_t count) {
      for (; count > 0; --count) cables.push_back({a, ++used[a], b, ++used[b]});
    };
    for (SwitchId pod = 0; pod < pods; ++pod) {
      for (SwitchId k = 0; k < spines; ++k) {
        const SwitchId spine = pod * spines + k;
        for (SwitchId l = 0; l < leaves; ++l) {
          connect(pod * leaves + l, first_spine + spine, below(pod * leaves + l, spine));
        }
        for (SwitchId t = 0; t < tops; ++t) {
          connect(first_spine + spine, first_top + k * tops + t, above(spine, k * tops + t));
        }
      }
    }
    std::vector<SwitchId> host_switch;
    std::vector<PortNumber> host_port;
    for (SwitchId leaf = 0; leaf < first_spine; ++leaf) {
      host_switch.push_back(leaf);
      host_port.push_back(++used[leaf]);
    }
    return {host_switch, host_port, used, cables};
  }
};

std::unique_ptr<Resolver> sprayed(const Fabric& fabric, const Places& places) {
  return make_sprayed_resolver(fabric, places, next_hops(fabric, places));
}

/// Entries of all lists.
std::size_t entries(const PartLists& lists) {
  std::size_t count = 0;
  for (std::size_t list = 0; list < lists.lists(); ++list) count += lists.cells_of(list).size();
  return count;
}

/// Holds the lists of all messages to the ways that they take, followed one by one.
void check_lists(const Ways& ways, const PartLists& lists, std::uint32_t first_class = 0) {
  std::vector<std::vector<ChannelId>> in_cell(lists.cells());
  const std::vector<std::uint32_t>& cell = lists.cell_of_channel();
  for (ChannelId c = 0; c < cell.size(); ++c) in_cell[cell[c]].push_back(c);
  for (std::uint32_t to = first_class; to < ways.classes(); ++to) {
    for (std::uint32_t from = 0; from < ways.leaves(); ++from) {
      std::map<ChannelId, double> expected, found;
      if (from != ways.leaf_of_class(to)) {
        for (const PartOnChannel& each : ways.parts_between(from, to)) {
          expected[each.channel] += each.part;
        }
      }
      for (const std::uint32_t list : lists.of_pair(to * ways.leaves() + from)) {
        for (std::size_t k = 0; k < lists.cells_of(list).size(); ++k) {
          for (const ChannelId c : in_cell[lists.cells_of(list)[k]]) {
            found[c] += lists.parts_of(list)[k];
          }
        }
      }
      REQUIRE(found.size() == expected.size());
      for (const auto& [channel, part] : expected) {
        REQUIRE(found[channel] == doctest::Approx(part).epsilon(1e-12));
      }
    }
  }
}

const PartLists& checked(const Resolver& resolver) {
  REQUIRE(resolver.ways() != nullptr);
  const PartLists* const lists = resolver.ways()->part_lists();
  REQUIRE(lists != nullptr);
  check_lists(*resolver.ways(), *lists);
  return *lists;
}

}  // namespace

TEST_CASE("messages of random fabrics put on channels what their lists say") {
  int listed = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const auto on = make_random_fabric(seed, 2 + seed % 14, 2 + seed % 23, seed % 31);
    const Places places{some_hosts(seed, on.fabric, 1 + (2 * seed) % on.fabric.hosts()), false};
    const auto resolver = sprayed(on.fabric, places);
    const PartLists* const lists = resolver->ways()->part_lists();
    if (lists == nullptr) continue;
    ++listed;
    check_lists(*resolver->ways(), *lists);
  }
  CHECK(listed > 30);
}

TEST_CASE("messages of a whole tree of three levels share their lists") {
  const Pods pods{4, 3, 2, 2};
  const auto one = [](SwitchId, SwitchId) { return 1U; };
  const Fabric fabric = pods.build(one, one);
  const auto resolver = sprayed(fabric, all_hosts(fabric));
  const PartLists& lists = checked(*resolver);
  // Up from each leaf, down to each, and between any two of four pods; of each spine's channels all
  // to or from the tops of its plane are a cell, and so are all planes.
  CHECK(lists.lists() == 1 + 12 + 12 + 4 * 3);
  CHECK(lists.cells() == 1 + 12 + 12 + 2 * 4);
  CHECK(entries(lists) == 12 + 12 + 2 * 4 * 3);
}

TEST_CASE("cables that are missing or more than elsewhere count as they are") {
  const Pods pods{4, 3, 2, 2};
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 engine(seed);
    // Most have one, some none, two or three.
    const auto some = [&](SwitchId, SwitchId) {
      const std::uint32_t drawn = random_fabric::below(16, engine);
      return drawn < 3 ? drawn + (drawn > 0 ? 1U : 0U) : 1U;
    };
    // The first spine of a pod and its first top keep all of the network together.
    const Fabric fabric = pods.build(
        [&](SwitchId leaf, SwitchId spine) { return spine % 2 == 0 ? 1U : some(leaf, spine); },
        [&](SwitchId spine, SwitchId top) { return top == 0 ? 1U : some(spine, top); });
    const auto resolver = sprayed(fabric, all_hosts(fabric));
    checked(*resolver);
  }
}

TEST_CASE("ways that end or go round in circles are not taken for others") {
  const Pods pods{3, 2, 2, 2};
  const auto one = [](SwitchId, SwitchId) { return 1U; };
  const Fabric fabric = pods.build(one, one);
  const Places places = all_hosts(fabric);
  NextHops next = next_hops(fabric, places);
  const std::size_t switches = fabric.switches();
  // To the first leaf the first top leads nowhere, and the second back to where messages come from.
  const SwitchId first_top = static_cast<SwitchId>(switches - 4);
  next.set_of[first_top] = 0;
  next.set_of[first_top + 1] = static_cast<std::uint32_t>(next.first.size() - 1);
  for (ChannelId c = 0; c < fabric.switch_channels(); ++c) {
    if (fabric.channel_from(c) == first_top + 1) next.members.push_back(c);
  }
  next.first.push_back(static_cast<std::uint32_t>(next.members.size()));
  const auto resolver = make_sprayed_resolver(fabric, places, std::move(next));
  const Ways& ways = *resolver->ways();
  const PartLists* const lists = ways.part_lists();
  REQUIRE(lists != nullptr);
  check_lists(ways, *lists, 1);
}

TEST_CASE("where messages have little in common they are followed") {
  // A ring of hosts: the lists of all pairs would have about a quarter of n^3 entries.
  std::vector<Cable> cables;
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  constexpr SwitchId kRing = 80;
  for (SwitchId s = 0; s < kRing; ++s) {
    cables.push_back({s, 1, (s + 1) % kRing, 2});
    host_switch.push_back(s);
    host_port.push_back(3);
  }
  const Fabric fabric(host_switch, host_port, std::vector<PortNumber>(kRing, 3), cables);
  const auto resolver = sprayed(fabric, all_hosts(fabric));
  CHECK(resolver->ways()->part_lists() == nullptr);
}
