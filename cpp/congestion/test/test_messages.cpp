#include "contend/congestion/messages.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"

using namespace contend;
using namespace contend::test;

namespace {

/// Four hosts on a ring that is walked clockwise only: channel 2 h leads from switch h to h + 1.
std::unique_ptr<Resolver> four_on_a_ring() {
  const ClockwiseRing ring(4);
  return ring.tabled({{0, 1, 2, 3}, false});
}

MessageCongestion judge(const std::vector<Place>& source, const std::vector<Place>& target) {
  return message_congestion(*four_on_a_ring(), source, target);
}

using Amounts = std::vector<std::uint64_t>;

Amounts through(const std::vector<Place>& source, const std::vector<Place>& target,
                const Amounts& amount) {
  return channel_amounts(*four_on_a_ring(), source, target, amount);
}

}  // namespace

TEST_CASE("a route gets the least of rate over load, as a share of its slower port") {
  // Channels of rates 4, 1, 2, one that pads, and ports 3 and 5: 4 / 2, 1 / 2 and ports 3 / 1, 5
  // / 1.
  const std::vector<double> rate{4, 1, 2, std::numeric_limits<double>::infinity(), 3, 5};
  const auto share = route_shares(std::vector<std::uint32_t>{0, 1, 4, 5, 2, 3, 4, 5}, 4,
                                  std::vector<double>{2, 2, 1, 1, 1, 9, 1, 2}, rate);
  REQUIRE(share.size() == 2);
  CHECK(share[0] == doctest::Approx(0.5 / 3));
  CHECK(share[1] == doctest::Approx(2.0 / 3));
}

TEST_CASE("routes, loads and rates that do not fit each other are refused") {
  using Numbers = std::vector<std::uint32_t>;
  using Loads = std::vector<double>;
  const std::vector<double> rate{1, 1};
  CHECK_THROWS_AS(route_shares(Numbers{0, 1, 0}, 2, Loads{1, 1, 1}, rate), Error);
  CHECK_THROWS_AS(route_shares(Numbers{0}, 1, Loads{1}, rate), Error);
  CHECK_THROWS_AS(route_shares(Numbers{0, 1}, 2, Loads{1}, rate), Error);
  CHECK_THROWS_AS(route_shares(Numbers{0, 2}, 2, Loads{1, 1}, rate), Error);
}

TEST_CASE("places that do not exist and lists of different length are refused") {
  CHECK_THROWS_AS(judge({4}, {0}), Error);
  CHECK_THROWS_AS(judge({0}, {4}), Error);
  CHECK_THROWS_AS(judge({0, 1}, {2}), Error);
}

TEST_CASE("a channel carries the amounts of the messages that cross it") {
  CHECK(through({0, 1, 3, 2}, {2, 2, 0, 2}, {5, 1, 7, 9}) ==
        Amounts{5, 0, 6, 0, 0, 0, 7, 0, 5, 1, 0, 7, 7, 0, 6, 0});
  CHECK(through({}, {}, {}) == Amounts(16, 0));
  CHECK(through({0}, {1}, {~0ULL})[0] == ~0ULL);
  CHECK_THROWS_AS(through({0, 0}, {1, 1}, {~0ULL, 1}), Error);
  CHECK_THROWS_AS(through({0, 0}, {1, 1}, {1}), Error);
}
