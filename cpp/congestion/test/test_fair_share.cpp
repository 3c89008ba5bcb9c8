#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/messages.hpp"

using namespace contend;

namespace {

using Shares = std::vector<double>;

void check_near(const Shares& found, const Shares& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t m = 0; m < found.size(); ++m) {
    CHECK(found[m] == doctest::Approx(expected[m]).epsilon(1e-12));
  }
}

/// A ring that is walked clockwise only: channel 2 h leads from switch h to h + 1, so a message
/// from s to t crosses the channels of s, s + 1, ..., t - 1.
struct Ring {
  explicit Ring(SwitchId size) : ring(size) {
    resolver = ring.tabled({contend::test::in_order(size), false});
  }
  Shares share(const std::vector<Place>& source, const std::vector<Place>& target) const {
    return fair_share(*resolver, source, target);
  }
  Shares times(const std::vector<Place>& source, const std::vector<Place>& target,
               const std::vector<double>& size = {}) const {
    return fluid_times(*resolver, source, target, size);
  }

  contend::test::ClockwiseRing ring;
  std::unique_ptr<Resolver> resolver;
};

/// Messages between random places of a random fabric, host channels shared by many.
struct Random {
  explicit Random(std::uint32_t seed) : on(contend::test::make_random_fabric(seed, 12, 30, 15)) {
    resolver = on.tabled({contend::test::in_order(30), false});
    std::mt19937 engine(seed);
    for (int m = 0; m < 40; ++m) {
      source.push_back(static_cast<Place>(engine() % 30));
      target.push_back(static_cast<Place>(engine() % 30));
    }
  }

  /// The channels of a message, by counting it alone.
  std::vector<std::size_t> route(std::size_t m) const {
    const auto alone = message_congestion(*resolver, std::span(&source[m], 1), {&target[m], 1});
    std::vector<std::size_t> channels;
    for (std::size_t c = 0; c < alone.channel_messages.size(); ++c) {
      if (alone.channel_messages[c] > 0) channels.push_back(c);
    }
    return channels;
  }

  contend::test::RandomFabric on;
  std::unique_ptr<Resolver> resolver;
  std::vector<Place> source;
  std::vector<Place> target;
};

}  // namespace

TEST_CASE("a message to oneself is not held back, and no message has no share") {
  const Ring ring(4);
  check_near(ring.share({2, 0}, {2, 2}), {1, 1});
  CHECK(ring.share({}, {}).empty());
  CHECK(ring.times({}, {}).empty());
  check_near(ring.times({1, 1}, {1, 1}, {3, 2}), {3, 2});
}

TEST_CASE("what does not fit is refused") {
  const Ring ring(4);
  CHECK_THROWS_AS(ring.share({4}, {0}), Error);
  CHECK_THROWS_AS(ring.share({0, 1}, {2}), Error);
  CHECK_THROWS_AS(ring.times({0}, {1}, {1, 2}), Error);
  CHECK_THROWS_AS(ring.times({0}, {1}, {0}), Error);
}

TEST_CASE("shares are feasible, and every message has a full channel on which none gets more") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Random random(seed);
    const Shares share = fair_share(*random.resolver, random.source, random.target);
    std::map<std::size_t, double> load;
    std::map<std::size_t, double> largest;
    for (std::size_t m = 0; m < share.size(); ++m) {
      for (const std::size_t c : random.route(m)) {
        load[c] += share[m];
        largest[c] = std::max(largest[c], share[m]);
      }
    }
    for (const auto& [channel, sum] : load) CHECK(sum <= 1 + 1e-9);
    for (std::size_t m = 0; m < share.size(); ++m) {
      const auto route = random.route(m);
      const bool held_back = std::any_of(route.begin(), route.end(), [&](std::size_t c) {
        return load[c] > 1 - 1e-9 && largest[c] < share[m] + 1e-9;
      });
      CHECK((held_back || route.empty()));
    }
  }
}

TEST_CASE("work is kept: a full channel ends when all of its messages could have gone one by one") {
  const Ring ring(10);
  const std::vector<double> size{1, 2, 3, 4, 5};
  const Shares times = ring.times({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, size);
  CHECK(*std::max_element(times.begin(), times.end()) == doctest::Approx(1 + 2 + 3 + 4 + 5));
}

TEST_CASE("channels of different rates fill up at what they carry") {
  // Four hosts, a switch each; channel 2 h leads on from switch h, channels 8 to 11 into the
  // network, 12 to 15 out of it. Messages 0 -> 2 and 1 -> 3 share the channel from switch 1.
  const Ring ring(4);
  std::vector<double> rate(16, 4.0);
  rate[0] = 1;  // The first message gets 1, which leaves 3 to the other: of 4, their ports.
  const std::vector<Place> source{0, 1};
  const std::vector<Place> target{2, 3};
  check_near(fair_share(*ring.resolver, source, target, rate), {0.25, 0.75});
  const auto counted = message_congestion(*ring.resolver, source, target, rate);
  CHECK(counted.congestion == std::vector<std::uint32_t>{2, 2});
  check_near(counted.share, {0.25, 0.5});
  // In seconds: 4 bytes at 1, 6 at 3.
  check_near(fluid_times(*ring.resolver, source, target, std::vector<double>{4, 6}, rate), {4, 2});
  // A slower port is all that its message can have.
  rate[14] = 1;
  check_near(fair_share(*ring.resolver, source, target, rate), {1, 0.75});
}

TEST_CASE("nobody gets less than the least of rate over load") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Random random(seed);
    std::mt19937 engine(seed);
    std::vector<double> rate(random.resolver->switch_channels() + 60);
    for (double& one : rate) one = static_cast<double>(1 + engine() % 4);
    const Shares share = fair_share(*random.resolver, random.source, random.target, rate);
    const auto least =
        message_congestion(*random.resolver, random.source, random.target, rate).share;
    for (std::size_t m = 0; m < share.size(); ++m) CHECK(share[m] >= least[m] - 1e-12);
  }
}
