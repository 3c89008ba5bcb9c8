#include <doctest/doctest.h>

#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/checks/trace.hpp"

using namespace contend;

namespace {

// A line of three switches, 0 - 1 - 2; host 0 on switch 0, hosts 1 and 2 on switch 2.
// Cable 0 is switch 0 port 1 to switch 1 port 1, cable 1 is switch 1 port 2 to switch 2 port 1.
const Fabric& line() {
  static const Fabric fabric({0, 2, 2}, {2, 2, 3}, {3, 3, 3},
                             std::vector<Cable>{{0, 1, 1, 1}, {1, 2, 2, 1}});
  return fabric;
}

// Ports by address; each case has its own column. Hosts' addresses are not those of the tables
// here: trace is told which host it should end at.
enum Column : Address {
  to_host_1,
  to_host_0,
  loops,
  stops,
  falls_off,
  for_the_switch,
  missing_port,
  passes_by,
  columns
};
constexpr PortNumber N = kNoPort;
const std::vector<PortNumber> ports = {
    // to_host_1, to_host_0, loops, stops, falls_off, for_the_switch, missing_port, passes_by
    1, 2, 1, 1, 1, 1, 9, 1,  // switch 0
    2, 1, 1, N, 3, 0, 9, 2,  // switch 1: port 3 is empty
    2, 1, 1, 2, 2, 1, 9, 1,  // switch 2
};

Trace walk(SwitchId from, HostId to, Address address, std::vector<ChannelId>& route) {
  return trace(line(), {ports.data(), 3, columns}, from, to, address, route);
}

}  // namespace

TEST_CASE("a route is the channels between switches on the way, in order") {
  std::vector<ChannelId> route = {42};
  CHECK(walk(0, 1, to_host_1, route).end == TraceEnd::delivered);
  CHECK(route == std::vector<ChannelId>{0, 2});

  const Trace back = walk(2, 0, to_host_0, route);
  CHECK(back.end == TraceEnd::delivered);
  CHECK(back.last == 0);
  CHECK(route == std::vector<ChannelId>{3, 1});
}

TEST_CASE("within a switch the route is empty") {
  std::vector<ChannelId> route = {42};
  CHECK(walk(2, 1, to_host_1, route).end == TraceEnd::delivered);
  CHECK(route.empty());
}

TEST_CASE("it says where and why a walk ends elsewhere") {
  std::vector<ChannelId> route;
  const Trace wrong = walk(0, 2, to_host_1, route);
  CHECK(wrong.end == TraceEnd::wrong_host);
  CHECK(wrong.last == 2);

  const Trace stopped = walk(0, 1, stops, route);
  CHECK(stopped.end == TraceEnd::no_entry);
  CHECK(stopped.last == 1);
  CHECK(route == std::vector<ChannelId>{0});

  const Trace fell = walk(0, 1, falls_off, route);
  CHECK(fell.end == TraceEnd::dead_end);
  CHECK(fell.last == 1);

  CHECK(walk(0, 1, for_the_switch, route).end == TraceEnd::dead_end);
  CHECK(walk(0, 1, missing_port, route).end == TraceEnd::dead_end);
  CHECK(walk(0, 1, columns, route).end == TraceEnd::no_entry);
}

TEST_CASE("the entry of the host's own switch counts: where it leads away nothing arrives") {
  std::vector<ChannelId> route;
  CHECK(walk(0, 1, passes_by, route).end == TraceEnd::loop);
  CHECK(walk(2, 1, passes_by, route).end == TraceEnd::loop);
  CHECK(walk(2, 2, to_host_1, route).end == TraceEnd::wrong_host);
  CHECK(route.empty());
}

TEST_CASE("a loop ends after as many channels as there are switches") {
  std::vector<ChannelId> route;
  CHECK(walk(0, 1, loops, route).end == TraceEnd::loop);
  CHECK(route == std::vector<ChannelId>{0, 1, 0});
}

TEST_CASE("the longest route without a loop, switches - 1 channels, is delivered") {
  std::vector<ChannelId> route;
  CHECK(walk(0, 1, to_host_1, route).end == TraceEnd::delivered);
  CHECK(route.size() == line().switches() - 1);
}
