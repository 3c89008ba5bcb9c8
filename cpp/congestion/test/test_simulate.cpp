#include "contend/congestion/simulate.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../routes/test/paper_fabrics.hpp"
#include "agreement.hpp"
#include "contend/base/error.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "contend/pattern/fixed_patterns.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "contend/routes/one_way/tree_formula.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/together/ideal_ways.hpp"
#include "naive.hpp"

using namespace contend;
using namespace contend::test;

namespace {

using Shared = std::shared_ptr<const Pattern>;

/// One of every kind, for so many ranks (12 at least, and a multiple of 4).
std::vector<std::pair<std::string, Shared>> every_kind(Rank ranks) {
  std::vector<std::pair<std::string, Shared>> kinds;
  const auto with = [&](const char* name, Shared pattern) { kinds.emplace_back(name, pattern); };
  with("bisect", make_bisect(ranks, false));
  with("bisect:two-way", make_bisect(ranks - 1, true));
  with("permutation", make_permutation(ranks));
  with("uniform", make_uniform(ranks));
  with("localised", make_localised(ranks, 4, 80));
  with("hot-spot traffic", make_hot_spot_traffic(ranks, 2, 30));
  with("hot-spot", make_hot_spot(ranks, 3));
  with("all-to-all", make_all_to_all(ranks));
  with("shifts", make_all_shifts(ranks));
  with("dissemination", make_dissemination(ranks));
  with("recursive doubling", make_recursive_doubling(ranks));
  with("tree", make_tree(ranks));
  with("double tree", make_double_tree(ranks));
  with("pipeline", make_pipeline(ranks));
  with("tornado", make_tornado(ranks));
  with("scatter", make_scatter(ranks));
  with("gather", make_gather(ranks));
  with("neighbour", make_neighbour(ranks, 6));
  with("halo", make_halo(ranks, std::vector<Rank>{ranks / 4, 2, 2}, true));
  with("transpose", make_transpose(ranks));
  with("bit reversal", make_bit_reversal(ranks));
  with("bit complement", make_bit_complement(ranks));
  // Messages to oneself, an empty round, several messages between two, ranks without any.
  with("weighted rounds", make_rounds(ranks, {0, 4, 4, 6}, {0, 1, 2, 3, 0, 0}, {1, 2, 2, 0, 5, 5},
                                      {10, 20, 40, 5, 1, 2}));
  with("weighted pairs",
       make_rounds(ranks, {0, 4, 6}, {0, 1, 2, 9, 4, 8}, {1, 0, 9, 2, 8, 4}, {10, 10, 3, 3, 7, 7}));
  with("only to oneself", make_rounds(ranks, {0, 2}, {0, 3}, {0, 3}, {}));
  with("parts", make_parts(make_bisect(ranks / 2, false), make_tree(ranks / 2)));
  with("parts, some to oneself",
       make_parts(make_bisect(ranks - 4, false), make_rounds(4, {0, 3}, {0, 1, 2}, {0, 2, 1}, {})));
  with("parts with pieces", make_parts(make_all_to_all(ranks - 3), make_uniform(3)));
  return kinds;
}

/// One, two or four units a second for every channel.
std::vector<double> mixed_rates(std::uint32_t seed, const RandomFabric& on, std::size_t places) {
  std::mt19937 engine(seed);
  std::vector<double> rate(on.fabric.switch_channels() + 2 * places);
  for (double& one : rate) one = static_cast<double>(1U << engine() % 3);
  return rate;
}

/// Every kind of pattern in one seating, by both resolvers, against the naive count.
void compare_every_kind(const RandomFabric& on, const Places& places, const Seating& seating,
                        const std::vector<double>& rate = {}) {
  const auto tabled = on.tabled(places);
  const auto walking = on.walking(places);
  const auto ranks = static_cast<Rank>(seating.slots.size() * seating.ranks_per_slot);
  for (const auto& [name, pattern] : every_kind(ranks)) {
    CAPTURE(name);
    Naive naive(on, places, *pattern, seating, rate);
    const Samples samples{11, 5, 7, false};
    naive.run(samples);
    for (const Resolver* resolver : {tabled.get(), walking.get()}) {
      const BatchResult found = simulate(*resolver, *pattern, seating, samples, 1, rate);
      check_same(found, naive.result(), on.fabric.switch_channels());
    }
  }
}

}  // namespace

TEST_CASE("every kind of pattern comes to what counting message by message comes to") {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    const RandomFabric on = make_random_fabric(seed, 2 + 2 * seed, 24, 4 * seed, seed % 3);
    const Places places{some_hosts(seed, on.fabric, 20), seed % 2 == 1};
    compare_every_kind(on, places, {in_order(20), 1, seed % 4 < 2});
  }
}

TEST_CASE("channels of different rates: a message gets the least of rate over load") {
  for (std::uint32_t seed = 30; seed < 33; ++seed) {
    CAPTURE(seed);
    const RandomFabric on = make_random_fabric(seed, 6, 24, 8);
    const Places places{some_hosts(seed, on.fabric, 20), false};
    const std::vector<double> rate = mixed_rates(seed, on, 20);
    compare_every_kind(on, places, {in_order(20), 1, seed % 2 == 1}, rate);
    compare_every_kind(on, places, {in_order(20), 2, true}, rate);
  }
}

TEST_CASE("rates of as many channels as there are, all above 0") {
  const RandomFabric on = make_random_fabric(34, 4, 12, 3);
  const Places places{in_order(12), false};
  const auto resolver = on.tabled(places);
  const Shared tree = make_tree(12);
  const Seating seating{in_order(12), 1, false};
  std::vector<double> rate = mixed_rates(34, on, 12);
  rate[3] = 0;
  CHECK_THROWS_AS(simulate(*resolver, *tree, seating, {1, 0, 1, false}, 1, rate), Error);
  rate.pop_back();
  CHECK_THROWS_AS(simulate(*resolver, *tree, seating, {1, 0, 1, false}, 1, rate), Error);
}

TEST_CASE("two ranks share a slot") {
  const RandomFabric on = make_random_fabric(20, 5, 10, 4);
  const Places places{some_hosts(20, on.fabric, 10), false};
  compare_every_kind(on, places, {in_order(10), 2, false});
  compare_every_kind(on, places, {in_order(10), 2, true});
}

TEST_CASE("places have several slots, in any order, and some have none") {
  const RandomFabric on = make_random_fabric(21, 5, 10, 4);
  const Places places{some_hosts(21, on.fabric, 10), false};
  const std::vector<Place> slots{3, 3, 0, 9, 1, 1, 1, 8, 2, 2, 7, 0, 3, 6, 9, 1};
  compare_every_kind(on, places, {slots, 1, false});
  compare_every_kind(on, places, {slots, 1, true});
}

TEST_CASE("one switch: no channel lies between") {
  const RandomFabric on = make_random_fabric(22, 1, 12, 0);
  compare_every_kind(on, {in_order(12), false}, {in_order(12), 1, true});
}

TEST_CASE("fewer ranks than slots") {
  const RandomFabric on = make_random_fabric(23, 6, 30, 5);
  const Places places{some_hosts(23, on.fabric, 30), false};
  const auto resolver = on.tabled(places);
  const Shared tree = make_tree(13);
  const Seating seating{in_order(30), 1, true};
  Naive naive(on, places, *tree, seating);
  const Samples samples{1, 0, 20, false};
  naive.run(samples);
  check_same(simulate(*resolver, *tree, seating, samples, 1), naive.result(),
             on.fabric.switch_channels());
}

TEST_CASE("rounds of few messages, whose channels alone are gone through, and of many in turn") {
  const RandomFabric on = make_random_fabric(40, 2, 64, 250);
  const Places places{in_order(64), false};
  compare_every_kind(on, places, {in_order(64), 1, true});
  compare_every_kind(on, places, {in_order(32), 2, false}, mixed_rates(40, on, 64));
}

TEST_CASE("channel numbers beyond 16 bits") {
  // 33,000 cables between two switches.
  const RandomFabric on = make_random_fabric(24, 2, 16, 32'999);
  compare_every_kind(on, {in_order(16), false}, {in_order(16), 1, true});
}

TEST_CASE("threads that share the pieces of rounds of pairs change nothing, nor do rates") {
  const RandomFabric on = make_random_fabric(27, 8, 24, 6);
  const Places places{some_hosts(27, on.fabric, 24), false};
  const auto resolver = on.tabled(places);
  const Shared pairs = make_parts(make_recursive_doubling(16), make_bit_complement(8));
  REQUIRE(pairs->pieces(0) == 2);
  for (const std::vector<double>& rate : {mixed_rates(27, on, 24), std::vector<double>{}}) {
    const Seating seating{in_order(24), 1, true};
    const Samples one{3, 7, 1, false};
    Naive naive(on, places, *pairs, seating, rate);
    naive.run(one);
    for (const int threads : {1, 3, 8}) {
      const BatchResult found = simulate(*resolver, *pairs, seating, one, threads, rate);
      check_same(found, naive.result(), on.fabric.switch_channels());
      REQUIRE(found.pair_bandwidth.size() == 1);
      check_identical(found, simulate(*resolver, *pairs, seating, one, 1, rate));
    }
  }
}

TEST_CASE("threads that share the pieces of a round change nothing") {
  const RandomFabric on = make_random_fabric(27, 8, 24, 6);
  const Places places{some_hosts(27, on.fabric, 24), false};
  // Twelve leaves of two hosts below two switches.
  std::vector<SwitchId> leaf_of;
  std::vector<PortNumber> port_of, sizes(12, 4);
  std::vector<Cable> cables;
  for (PortNumber leaf = 0; leaf < 12; ++leaf) {
    leaf_of.insert(leaf_of.end(), 2, leaf);
    port_of.insert(port_of.end(), {1, 2});
    for (PortNumber up = 0; up < 2; ++up) {
      cables.push_back(
          {leaf, static_cast<PortNumber>(3 + up), 12U + up, static_cast<PortNumber>(1 + leaf)});
    }
  }
  sizes.insert(sizes.end(), 2, 12);
  const Fabric tree(leaf_of, port_of, sizes, cables);
  const auto complete = find_complete_tree(tree);
  REQUIRE(complete);
  const auto tabled = on.tabled(places);
  const auto lists = make_sprayed_resolver(on.fabric, places, next_hops(on.fabric, places));
  const auto bundles = make_sprayed_resolver(tree, {in_order(24), false}, complete.get());
  REQUIRE(lists->ways()->part_lists() != nullptr);
  REQUIRE(bundles->even_tree() != nullptr);
  const std::shared_ptr<const Pattern> all = make_all_to_all(48);
  const std::shared_ptr<const Pattern> beside =
      make_parts(make_all_to_all(24), make_all_shifts(24));
  const Samples one{3, 7, 1, false};
  for (const Resolver* const resolver : {tabled.get(), lists.get(), bundles.get()}) {
    // Rates whose sums depend on the order in which they are added.
    std::vector<double> rates(resolver->switch_channels() + 2 * resolver->places());
    for (std::size_t c = 0; c < rates.size(); ++c) rates[c] = 1 / (3.0 + static_cast<double>(c));
    for (const bool drawn : {false, true}) {
      const Seating seating{in_order(24), 2, drawn};
      for (const auto& pattern : {all, beside}) {
        for (const std::vector<double>& rate : {rates, std::vector<double>{}}) {
          const BatchResult alone = simulate(*resolver, *pattern, seating, one, 1, rate);
          for (const int threads : {2, 3, 8}) {
            check_identical(alone, simulate(*resolver, *pattern, seating, one, threads, rate));
          }
          // One of several samples is not shared.
          const BatchResult several =
              simulate(*resolver, *pattern, seating, {3, 7, 40, false}, 3, rate);
          CHECK(several.bandwidth.front() == alone.bandwidth.front());
          if (!rate.empty()) CHECK(several.share.front() == alone.share.front());
        }
      }
    }
  }
}

TEST_CASE("the share that is done of a batch grows from nothing to nearly all") {
  thread_local std::vector<double> shares;
  const RandomFabric on = make_random_fabric(26, 8, 24, 6);
  const Places places{in_order(24), false};
  const auto resolver = on.tabled(places);
  const Seating seating{in_order(24), 1, true};
  const Interruption look([] { shares.push_back(share_done()); }, std::chrono::nanoseconds(0));
  for (const auto& [name, pattern] : every_kind(24)) {
    CAPTURE(name);
    for (const std::uint32_t samples : {1U, 30U}) {
      shares.clear();
      simulate(*resolver, *pattern, seating, {3, 0, samples, false}, 1);
      REQUIRE(!shares.empty());
      CHECK(shares.front() == 0);
      CHECK(std::ranges::is_sorted(shares));
      CHECK(shares.back() <= 1);
      if (samples > 1) CHECK(shares.back() > 0.9);
    }
  }
  CHECK(share_done() < 0);
}

TEST_CASE("batches together are the whole, empty ones included") {
  const RandomFabric on = make_random_fabric(26, 8, 24, 6);
  const Places places{some_hosts(26, on.fabric, 24), false};
  const auto resolver = on.tabled(places);
  const Seating seating{in_order(24), 1, true};
  for (const auto& [name, pattern] : every_kind(24)) {
    CAPTURE(name);
    const BatchResult whole = simulate(*resolver, *pattern, seating, {3, 100, 30, false}, 1);
    BatchResult sum = simulate(*resolver, *pattern, seating, {3, 100, 0, false}, 1);
    CHECK(sum.bandwidth.empty());
    add(sum, simulate(*resolver, *pattern, seating, {3, 100, 11, false}, 2));
    add(sum, simulate(*resolver, *pattern, seating, {3, 111, 19, false}, 1));
    check_identical(sum, whole);
  }
}

TEST_CASE("ideal splits serve the worst message no worse than even ones, in batches of any size") {
  const RandomFabric on = make_random_fabric(29, 9, 24, 12);
  const Places places{in_order(24), false};
  const auto hops = [&] { return next_hops(on.fabric, places); };
  const auto ideal = make_ideal_resolver(on.fabric, places, hops());
  const auto sprayed = make_sprayed_resolver(on.fabric, places, hops());
  const Seating seating{in_order(24), 1, true};
  for (const auto& [name, pattern] : every_kind(24)) {
    CAPTURE(name);
    const BatchResult whole = simulate(*ideal, *pattern, seating, {3, 5, 6, false}, 1);
    BatchResult sum = simulate(*ideal, *pattern, seating, {3, 5, 2, false}, 2);
    add(sum, simulate(*ideal, *pattern, seating, {3, 7, 4, false}, 3));
    check_identical(sum, whole);
    const BatchResult even = simulate(*sprayed, *pattern, seating, {3, 5, 6, false}, 1);
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(whole.max_congestion[k] <= 1.01 * even.max_congestion[k]);
    }
  }
}

TEST_CASE("a round with more ideal ways than are solved for is refused") {
  // Each of six messages crosses two of the ring's channels, by its only shortest way.
  const Paper paper = ring(6);
  const Places places{in_order(6), false};
  const Seating seating{in_order(6), 1, false};
  const Shared pattern = make_shift(6, 2);
  const auto solve = [&](std::size_t most) {
    const auto hops = next_hops(paper.fabric, places);
    const auto ideal = make_ideal_resolver(paper.fabric, places, hops, most);
    return simulate(*ideal, *pattern, seating, {1, 0, 1, false}, 1).max_congestion.front();
  };
  CHECK(solve(12) == doctest::Approx(2).epsilon(0.01));
  CHECK_THROWS_AS(solve(11), Error);
}

TEST_CASE("outcomes beyond 63 bits are not counted") {
  const Shared tree = make_tree(4);
  CHECK(outcomes(*tree, {in_order(20), 1, true}) == 2'432'902'008'176'640'000U);
  CHECK_FALSE(outcomes(*tree, {in_order(21), 1, true}).has_value());
  CHECK_FALSE(outcomes(*make_permutation(20), {in_order(20), 1, true}).has_value());
  CHECK(outcomes(*tree, {in_order(21), 1, false}) == 1U);
}

TEST_CASE("patterns and slots that do not fit are refused") {
  const RandomFabric on = make_random_fabric(28, 2, 4, 0);
  const auto resolver = on.tabled({in_order(4), false});
  const Samples samples{1, 0, 1, false};
  CHECK_THROWS_AS(simulate(*resolver, *make_tree(5), {in_order(4), 1, false}, samples, 1), Error);
  CHECK_NOTHROW(simulate(*resolver, *make_tree(8), {in_order(4), 2, false}, samples, 1));
  CHECK_THROWS_AS(simulate(*resolver, *make_tree(2), {{0, 4}, 1, false}, samples, 1), Error);
}
