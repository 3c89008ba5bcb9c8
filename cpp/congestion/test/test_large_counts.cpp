// More messages on one channel than 16 bits can count, and than a counter can hold.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "../src/rounds/round_counter.hpp"
#include "../src/split/shared_counters.hpp"
#include "../src/split/ways_counters.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/dragonfly.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/routes/one_way/tree_formula.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/ways/dragonfly_hops.hpp"

using namespace contend;

namespace {

constexpr HostId kOnLeaf = 33'000;

/// Leaves 0 and 1 with switch 4 above them, leaves 2 and 3 with switch 5, one cable between 4
/// and 5.
struct Dumbbell {
  Dumbbell() : fabric(cable()), first(4 * kOnLeaf), lmc(4 * kOnLeaf, 0) {
    std::iota(first.begin(), first.end(), Address{1});
    ports.assign(6 * width, kNoPort);
    for (HostId host = 0; host < 4 * kOnLeaf; ++host) {
      const SwitchId leaf = host / kOnLeaf;
      for (SwitchId s = 0; s < 4; ++s) {
        ports[s * width + first[host]] = s == leaf ? fabric.host_port(host) : PortNumber{1};
      }
      for (const SwitchId top : {4U, 5U}) {
        const bool below = leaf / 2 == top - 4;
        ports[top * width + first[host]] = below ? static_cast<PortNumber>(1 + leaf % 2) : 3;
      }
    }
  }

  static Fabric cable() {
    std::vector<SwitchId> host_switch;
    std::vector<PortNumber> host_port;
    for (HostId host = 0; host < 4 * kOnLeaf; ++host) {
      host_switch.push_back(host / kOnLeaf);
      host_port.push_back(static_cast<PortNumber>(2 + host % kOnLeaf));
    }
    std::vector<PortNumber> sizes(6, kOnLeaf + 1);
    return {host_switch,
            host_port,
            sizes,
            {{0, 1, 4, 1}, {1, 1, 4, 2}, {2, 1, 5, 1}, {3, 1, 5, 2}, {4, 3, 5, 3}}};
  }

  static constexpr std::size_t width = 4 * kOnLeaf + 1;
  Fabric fabric;
  std::vector<Address> first;
  std::vector<std::uint8_t> lmc;
  std::vector<PortNumber> ports;
};

}  // namespace

TEST_CASE("66,000 messages on one channel") {
  const Dumbbell on;
  const Places places{contend::test::in_order(4 * kOnLeaf), false};
  const auto resolver = make_walking_resolver(on.fabric, {on.ports.data(), 6, Dumbbell::width},
                                              {on.first, on.lmc}, places);
  // p - 1 - i: everyone sends to the other side.
  const auto pattern = make_bit_complement(4 * kOnLeaf);
  const BatchResult found = simulate(*resolver, *pattern, {places.hosts, 1, false}, {}, 1);
  CHECK(found.bandwidth.empty());
  const BatchResult one =
      simulate(*resolver, *pattern, {places.hosts, 1, false}, {1, 0, 1, false}, 1);
  CHECK(one.max_congestion == std::vector<double>{2 * kOnLeaf});
  REQUIRE(one.histogram.size() > 2 * kOnLeaf);
  CHECK(one.histogram[2 * kOnLeaf] == 4 * kOnLeaf);
  // Cable 4 is channels 8 and 9.
  CHECK(one.channel_messages[8] == 2 * kOnLeaf);
  CHECK(one.channel_messages[9] == 2 * kOnLeaf);
}

TEST_CASE("more messages on a channel than a counter is sure to hold are refused") {
  const contend::test::ClockwiseRing ring(4);
  const Places places{{0, 1, 2, 3}, false};
  const auto resolver = ring.walking(places);
  // Any number in a round, as long as no channel gets more than 100.
  const std::vector<Place> source{0, 1, 2, 3};
  const std::vector<Place> target{1, 2, 3, 0};
  RoundCounter<std::uint32_t, std::uint32_t> counter(*resolver, false, 100);
  for (int piece = 0; piece < 100; ++piece) counter.count(source, target);
  RoundCounter<std::uint32_t, std::uint32_t> other(*resolver, false, 100);
  other.count(source, target);
  CHECK_THROWS_AS(counter.absorb(other), Error);
  const auto count_for_long = [&] {
    for (int piece = 0; piece < 200; ++piece) counter.count(source, target);
  };
  CHECK_THROWS_AS(count_for_long(), Error);
  // Hosts' channels as well, and anew in every round.
  RoundCounter<std::uint32_t, std::uint32_t> with_hosts(*resolver, true, 100);
  const std::vector<Place> one_source(10, 0);
  const std::vector<Place> one_target(10, 1);
  for (int piece = 0; piece < 10; ++piece) with_hosts.count(one_source, one_target);
  with_hosts.fold();
  CHECK(with_hosts.values().back() == 100);
  with_hosts.clear();
  const auto count_again = [&] {
    for (int piece = 0; piece < 30; ++piece) with_hosts.count(one_source, one_target);
  };
  CHECK_THROWS_AS(count_again(), Error);
}

TEST_CASE("a piece may have more messages than a channel can count") {
  const contend::test::ClockwiseRing ring(4);
  const Places places{{0, 1, 2, 3}, false};
  const auto resolver = make_sprayed_resolver(ring.fabric, places, next_hops(ring.fabric, places));
  REQUIRE(resolver->unit() > 1);
  // Neighbours: every channel gets one message, and two in all could be counted on each.
  const std::vector<Place> source{0, 1, 2, 3};
  const std::vector<Place> target{1, 2, 3, 0};
  RoundCounter<std::uint32_t, std::uint32_t> counter(*resolver, true, 2 * resolver->unit());
  counter.count(source, target);
  counter.count(source, target);
  counter.fold();
  CHECK(counter.values().back() == 2 * resolver->unit());
  counter.clear();
  const std::vector<Place> one_source(3, 0);
  const std::vector<Place> one_target(3, 1);
  const auto count_three = [&] {
    counter.count(one_source, one_target);
    counter.fold();
  };
  CHECK_THROWS_WITH_AS(count_three(), "at most 2 messages on a channel in one round can be counted",
                       Error);
}

TEST_CASE("counters of 16 bits count what those of 32 do, round after round") {
  const contend::test::ClockwiseRing ring(5);
  const Places places{{0, 1, 2, 3, 4}, false};
  const auto resolver = ring.walking(places);
  RoundCounter<std::uint32_t, std::uint16_t> narrow(*resolver, true);
  RoundCounter<std::uint32_t, std::uint32_t> wide(*resolver, true);
  // Five messages two hops on: two on every channel.
  const std::vector<Place> source{0, 1, 2, 3, 4};
  const std::vector<Place> target{2, 3, 4, 0, 1};
  const std::size_t channels = resolver->switch_channels() + 2 * places.hosts.size();
  std::vector<std::uint64_t> of_narrow(channels, 0), of_wide(channels, 0);
  // Totals of 16 bits are full several times.
  for (int round = 0; round < 100'000; ++round) {
    const auto judged = [&](auto& counter, std::vector<std::uint64_t>& totals) {
      counter.count(source, target);
      if (!counter.totals_have_room()) counter.collect_totals(totals);
      counter.fold();
      std::vector<std::uint64_t> by_value(counter.values().size(), 0);
      counter.judge(source, target, {}, false, by_value);
      counter.finish(by_value);
      counter.clear();
      return by_value;
    };
    REQUIRE(judged(narrow, of_narrow) == judged(wide, of_wide));
  }
  narrow.collect_totals(of_narrow);
  wide.collect_totals(of_wide);
  CHECK(of_narrow == of_wide);
  CHECK(*std::max_element(of_narrow.begin(), of_narrow.end()) == 200'000);
}

TEST_CASE("sums of sprayed parts that are followed one by one do not wrap") {
  // Two switches, one cable, a host on each.
  const Fabric fabric({0, 1}, {2, 2}, {2, 2}, {{0, 1, 1, 1}});
  const auto dragonfly = find_dragonfly(fabric);
  REQUIRE(dragonfly);
  const auto resolver = make_sprayed_resolver(fabric, {{0, 1}, false}, dragonfly.get());
  FollowedCounter counter(*resolver->ways(), fabric.switch_channels());
  FollowedCounter other(*resolver->ways(), fabric.switch_channels());
  const std::vector<Place> source(1 << 16, 0), target(1 << 16, 1);
  std::vector<std::uint32_t> parts(fabric.switch_channels());
  counter.count(source, target);
  other.count(source, target);
  CHECK(counter.spread(kSprayUnit, parts) == (1U << 16) * kSprayUnit);
  CHECK(parts == std::vector<std::uint32_t>{(1U << 16) * kSprayUnit, 0});
  // What is refused is told by 64 bits, which would start anew after 2^24 messages.
  const double most = double{1U << 24} * kSprayUnit;
  for (int time = 0; time < 20; ++time) {
    counter.absorb(other);
    other.absorb(counter);
  }
  CHECK(counter.spread(kSprayUnit, parts) >= 0.99 * most);
  for (int time = 0; time < 3; ++time) counter.count(source, target);
  CHECK(counter.spread(kSprayUnit, parts) >= 0.99 * most);
  CHECK(parts == std::vector<std::uint32_t>{0x7FFF'FFFF, 0});
}

namespace {

/// Two counters that absorb each other in turn: messages grow as Fibonacci's numbers, beyond 32
/// bits.
void check_sums(SplitCounter& counter, SplitCounter& other, std::size_t channels) {
  const std::vector<Place> source{0}, target{1};
  std::vector<std::uint32_t> parts(channels);
  counter.count(source, target);
  const double each = counter.spread(1, parts);
  REQUIRE(each > 0);
  double here = 1, there = 0;
  while (std::max(here, there) < 5e9) {
    other.absorb(counter);
    there += here;
    counter.absorb(other);
    here += there;
  }
  CHECK(counter.spread(1, parts) == doctest::Approx(here * each));
  CHECK(other.spread(1, parts) == doctest::Approx(there * each));
}

}  // namespace

TEST_CASE("messages that spread over bundles or lists are counted beyond 32 bits") {
  // Two leaves with a host each, and two cables from both to a switch above.
  const Fabric fabric({0, 1}, {1, 1}, {3, 3, 4},
                      {{0, 2, 2, 1}, {0, 3, 2, 2}, {1, 2, 2, 3}, {1, 3, 2, 4}});
  const Places places{{0, 1}, false};
  const auto tree = find_complete_tree(fabric);
  REQUIRE(tree);
  const auto bundles = make_sprayed_resolver(fabric, places, tree.get());
  REQUIRE(bundles->even_tree() != nullptr);
  TreeCounter counter(*bundles->even_tree()), other(*bundles->even_tree());
  check_sums(counter, other, fabric.switch_channels());
  const auto lists = make_sprayed_resolver(fabric, places, next_hops(fabric, places));
  REQUIRE(lists->ways()->part_lists() != nullptr);
  ListsCounter of_lists(*lists->ways(), 2), others(*lists->ways(), 2);
  check_sums(of_lists, others, fabric.switch_channels());
}

TEST_CASE("few ranks that share ends send more than 16 bits count, where channels are many") {
  // 300 hosts on each of two switches, two more on the first, 33,000 cables of which one is used.
  constexpr HostId kHosts = 602;
  constexpr PortNumber kCables = 33'000;
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  for (HostId host = 0; host < kHosts; ++host) {
    host_switch.push_back(host / 300 % 2);
    host_port.push_back(static_cast<PortNumber>(kCables + 1 + host));
  }
  std::vector<Cable> cables;
  for (PortNumber port = 1; port <= kCables; ++port) cables.push_back({0, port, 1, port});
  const auto size = static_cast<PortNumber>(kCables + kHosts);
  const Fabric fabric(host_switch, host_port, {size, size}, cables);
  const std::vector<Address> first = contend::test::in_order(kHosts, 1);
  const std::vector<std::uint8_t> lmc(kHosts, 0);
  std::vector<PortNumber> ports(2 * (kHosts + 1), kNoPort);
  for (HostId host = 0; host < kHosts; ++host) {
    for (SwitchId s = 0; s < 2; ++s) {
      ports[s * (kHosts + 1) + first[host]] =
          host_switch[host] == s ? host_port[host] : PortNumber{1};
    }
  }
  const Places places{contend::test::in_order(kHosts), false};
  const auto resolver =
      make_walking_resolver(fabric, {ports.data(), 2, kHosts + 1}, {first, lmc}, places);
  REQUIRE_FALSE(resolver->narrow());
  const auto pattern = make_parts(make_all_to_all(600), make_shift(2, 1));
  const BatchResult found =
      simulate(*resolver, *pattern, {places.hosts, 1, false}, {1, 0, 1, false}, 1);
  CHECK(found.max_congestion == std::vector<double>{300 * 300});
}
