#include "contend/congestion/messages.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../../routes/test/small_ring.hpp"
#include "contend/base/error.hpp"

using contend::message_congestion;
using contend::MessageCongestion;
using contend::Place;

namespace {

/// Four hosts on a ring that is walked clockwise only: channel 2 h leads from switch h to h + 1.
MessageCongestion judge(const std::vector<Place>& source, const std::vector<Place>& target) {
  const contend::test::ClockwiseRing ring(4);
  const auto resolver =
      make_tabled_resolver(ring.fabric, ring.tables(), ring.addresses(), {{0, 1, 2, 3}, false});
  return message_congestion(*resolver, source, target);
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
