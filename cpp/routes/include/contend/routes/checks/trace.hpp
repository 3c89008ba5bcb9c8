#pragma once

#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// How a walk through the forwarding tables ended.
enum class TraceEnd : std::uint8_t {
  delivered,   ///< at the host that has the address
  no_entry,    ///< a switch has no port for the address
  dead_end,    ///< a switch sends it to a port with nothing plugged in, or to itself
  wrong_host,  ///< it left the network at another host
  loop         ///< it visited more switches than there are
};

inline constexpr std::size_t kTraceEnds = 5;

/// Where a route goes from a switch: on to another, or it ends there.
class Onward {
 public:
  // Implicit: who says where a route goes answers with a switch or with an end.
  Onward(SwitchId to) : value_(to) {}
  Onward(TraceEnd end) : value_(kNoSwitch - static_cast<SwitchId>(end)) {}

  bool ends() const { return value_ > kNoSwitch - kTraceEnds; }
  SwitchId to() const { return value_; }
  TraceEnd end() const { return static_cast<TraceEnd>(kNoSwitch - value_); }

 private:
  SwitchId value_;
};

/// What the switch where a walk ended does, in words.
inline const char* meaning(TraceEnd end) {
  switch (end) {
    case TraceEnd::no_entry:
      return "has no port for it";
    case TraceEnd::dead_end:
      return "sends it to a port with nothing plugged in";
    case TraceEnd::wrong_host:
      return "delivers it to another host";
    case TraceEnd::loop:
      return "lies on a loop";
    case TraceEnd::delivered:
      break;
  }
  return "delivers it";
}

struct Trace {
  TraceEnd end;
  SwitchId last;  ///< the switch where the walk ended
};

/// Follows one message from a switch on; next(s) says where its route goes from a switch.
/// Cost: one call a hop. Many routes to one target are followed at once by an InTree.
template <class Next>
Trace follow(std::size_t switches, SwitchId from, const Next& next) {
  SwitchId at = from;
  // A walk that takes as many steps as there are switches has seen one of them twice.
  for (std::size_t steps = 0; steps < switches; ++steps) {
    const Onward onward = next(at);
    if (onward.ends()) return {onward.end(), at};
    at = onward.to();
  }
  return {TraceEnd::loop, at};
}

/// What leaving a switch by a port comes to.
struct Step {
  ChannelId channel = kNoChannel;
  Onward onward = TraceEnd::no_entry;

  /// Of what is meant for a host, by what a table says; that may be kNoPort.
  static Step by(const Fabric& fabric, SwitchId s, PortNumber port, HostId to) {
    if (port == kNoPort) return {};
    const ChannelId channel = fabric.out(s, port);
    if (fabric.is_switch_channel(channel)) return {channel, fabric.channel_to(channel)};
    if (channel == kNoChannel) return {channel, TraceEnd::dead_end};
    const bool right = fabric.ejected_host(channel) == to;
    return {channel, right ? TraceEnd::delivered : TraceEnd::wrong_host};
  }
};

/// Walks from a switch to a host by the ports that port(s) answers, appending the channels between
/// switches to `route` (which is cleared first). The entry of the host's own switch is followed
/// like any other. Cost: one table entry per hop.
template <class Port>
Trace trace(const Fabric& fabric, SwitchId from, HostId to, const Port& port,
            std::vector<ChannelId>& route) {
  route.clear();
  return follow(fabric.switches(), from, [&](SwitchId s) {
    const Step step = Step::by(fabric, s, port(s), to);
    if (!step.onward.ends()) route.push_back(step.channel);
    return step.onward;
  });
}

/// The same to one of a host's addresses by forwarding tables.
inline Trace trace(const Fabric& fabric, const TableView& tables, SwitchId from, HostId to,
                   Address address, std::vector<ChannelId>& route) {
  return trace(fabric, from, to, [=](SwitchId s) { return tables.at(s, address); }, route);
}

}  // namespace contend
