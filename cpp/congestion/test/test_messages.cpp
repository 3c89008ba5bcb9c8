#include "contend/congestion/messages.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"

using contend::message_congestion;
using contend::MessageCongestion;
using contend::Place;

namespace {

/// Four hosts on a ring that is walked clockwise only: channel 2 h leads from switch h to h + 1.
std::unique_ptr<contend::Resolver> four_on_a_ring() {
  const contend::test::ClockwiseRing ring(4);
  return make_tabled_resolver(ring.fabric, ring.tables(), ring.addresses(), {{0, 1, 2, 3}, false});
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

TEST_CASE("pi is the largest number of messages on a message's route") {
  // 0 -> 2 by channels 0 and 2; 1 -> 2 by 2; 3 -> 0 by 6; 2 -> 2 stays.
  const MessageCongestion found = judge({0, 1, 3, 2}, {2, 2, 0, 2});
  CHECK(found.congestion == std::vector<std::uint32_t>{2, 2, 1, 0});
  // Channels between switches, then injection by place, then ejection.
  CHECK(found.channel_messages ==
        std::vector<std::uint64_t>{1, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 2, 0});
}

TEST_CASE("host channels count") {
  const MessageCongestion sent = judge({0, 0, 0}, {1, 1, 0});
  CHECK(sent.congestion == std::vector<std::uint32_t>{2, 2, 0});
  // 3 -> 1 and 1 -> 0 share only channel 6 (3 -> 0), 0 -> 1 and 3 -> 1 channel 0.
  CHECK(judge({3, 1, 0}, {1, 0, 1}).congestion == std::vector<std::uint32_t>{2, 2, 2});
}

TEST_CASE("no message is no congestion") { CHECK(judge({}, {}).congestion.empty()); }

TEST_CASE("places that do not exist and lists of different length are refused") {
  CHECK_THROWS_AS(judge({4}, {0}), contend::Error);
  CHECK_THROWS_AS(judge({0}, {4}), contend::Error);
  CHECK_THROWS_AS(judge({0, 1}, {2}), contend::Error);
}

TEST_CASE("a channel carries the amounts of the messages that cross it") {
  CHECK(through({0, 1, 3, 2}, {2, 2, 0, 2}, {5, 1, 7, 9}) ==
        Amounts{5, 0, 6, 0, 0, 0, 7, 0, 5, 1, 0, 7, 7, 0, 6, 0});
  CHECK(through({}, {}, {}) == Amounts(16, 0));
  CHECK(through({0}, {1}, {~0ULL})[0] == ~0ULL);
  CHECK_THROWS_AS(through({0, 0}, {1, 1}, {~0ULL, 1}), contend::Error);
  CHECK_THROWS_AS(through({0, 0}, {1, 1}, {1}), contend::Error);
}
