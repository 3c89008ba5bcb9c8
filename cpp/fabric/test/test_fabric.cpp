#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/fabric/fabric.hpp"

using namespace contend;

namespace {

// Three switches of four ports in a line, 0 -(two cables)- 1 -(one)- 2, with three hosts:
//   host 0 on switch 0 port 1, host 1 on switch 2 port 4, host 2 on switch 0 port 2.
Fabric line() {
  const std::vector<Cable> cables = {{0, 3, 1, 1}, {0, 4, 1, 2}, {2, 1, 1, 3}};
  return {{0, 2, 0}, {1, 4, 2}, {4, 4, 4}, cables};
}

}  // namespace

TEST_CASE("sizes: channels = 2 cables + 2 hosts = 2 * 3 + 2 * 3") {
  const Fabric fabric = line();
  CHECK(fabric.hosts() == 3);
  CHECK(fabric.switches() == 3);
  CHECK(fabric.cables() == 3);
  CHECK(fabric.switch_channels() == 6);
  CHECK(fabric.channels() == 12);
  CHECK(fabric.switch_ports(1) == 4);
}

TEST_CASE("cable k carries channels 2k and 2k + 1, opposite to each other") {
  const Fabric fabric = line();
  const ChannelId up = 4;  // cable 2, from switch 2 port 1 to switch 1 port 3
  CHECK(fabric.channel_from(up) == 2);
  CHECK(fabric.channel_from_port(up) == 1);
  CHECK(fabric.channel_to(up) == 1);
  CHECK(fabric.channel_to_port(up) == 3);
  CHECK(fabric.channel_from(up + 1) == 1);
  CHECK(fabric.channel_from_port(up + 1) == 3);
  CHECK(fabric.channel_to(up + 1) == 2);
  CHECK(fabric.channel_to_port(up + 1) == 1);
}

TEST_CASE("host channels follow: injection 2C + h, ejection 2C + H + h") {
  const Fabric fabric = line();
  CHECK(fabric.injection(0) == 6);
  CHECK(fabric.injection(2) == 8);
  CHECK(fabric.ejection(0) == 9);
  CHECK(fabric.ejection(2) == 11);
  for (ChannelId channel = 0; channel < 12; ++channel) {
    CHECK(fabric.is_switch_channel(channel) == (channel < 6));
  }
  CHECK(fabric.ejected_host(11) == 2);
}

TEST_CASE("every channel but an injection leaves exactly one switch port") {
  const Fabric fabric = line();
  std::multiset<ChannelId> leaving;
  for (SwitchId s = 0; s < 3; ++s) {
    for (PortNumber port = 1; port <= 4; ++port) {
      const ChannelId channel = fabric.out(s, port);
      if (channel != kNoChannel) leaving.insert(channel);
    }
  }
  CHECK(leaving == std::multiset<ChannelId>{0, 1, 2, 3, 4, 5, 9, 10, 11});
  CHECK(fabric.out(0, 4) == 2);
  CHECK(fabric.out(1, 2) == 3);
  CHECK(fabric.out(2, 4) == fabric.ejection(1));
}

TEST_CASE("nothing leaves an empty port, port 0 or a port that does not exist") {
  const Fabric fabric = line();
  CHECK(fabric.out(1, 4) == kNoChannel);
  CHECK(fabric.out(1, 0) == kNoChannel);
  CHECK(fabric.out(0, 5) == kNoChannel);
  CHECK(fabric.out(2, kNoPort) == kNoChannel);
}

TEST_CASE("what does not fit together is refused") {
  const std::vector<Cable> none;
  CHECK_THROWS_WITH_AS(Fabric({0}, {1, 2}, {4}, none),
                       "host_switch and host_port must have the same length", Error);
  CHECK_THROWS_WITH_AS(Fabric({1}, {1}, {4}, none), "switch 1 of 1", Error);
  CHECK_THROWS_WITH_AS(Fabric({0}, {0}, {4}, none), "port 0 of switch 0 with 4 ports", Error);
  CHECK_THROWS_WITH_AS(Fabric({0}, {5}, {4}, none), "port 5 of switch 0 with 4 ports", Error);
  CHECK_THROWS_WITH_AS(Fabric({0, 0}, {3, 3}, {4}, none), "port 3 of switch 0 holds two cables",
                       Error);
  const std::vector<Cable> to_itself = {{0, 2, 0, 2}};
  CHECK_THROWS_WITH_AS(Fabric({}, {}, {4}, to_itself), "port 2 of switch 0 holds two cables",
                       Error);
  const std::vector<Cable> nowhere = {{0, 1, 7, 1}};
  CHECK_THROWS_WITH_AS(Fabric({}, {}, {4}, nowhere), "switch 7 of 1", Error);
}

TEST_CASE("a fabric may be empty") {
  const Fabric fabric({}, {}, {}, {});
  CHECK(fabric.switches() == 0);
  CHECK(fabric.channels() == 0);
}
