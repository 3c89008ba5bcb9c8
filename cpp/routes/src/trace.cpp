#include "contend/routes/trace.hpp"

namespace contend {

Trace trace(const Fabric& fabric, const TableView& tables, SwitchId from, HostId to,
            Address address, std::vector<ChannelId>& route) {
  route.clear();
  SwitchId at = from;
  for (;;) {
    const PortNumber port = tables.at(at, address);
    if (port == kNoPort) return {TraceEnd::no_entry, at};
    const ChannelId channel = fabric.out(at, port);
    if (channel == kNoChannel) return {TraceEnd::dead_end, at};
    if (!fabric.is_switch_channel(channel)) {
      const bool right = fabric.is_ejection(channel) && fabric.ejected_host(channel) == to;
      return {right ? TraceEnd::delivered : TraceEnd::wrong_host, at};
    }
    // A walk that uses as many channels as there are switches has seen one of them twice.
    if (route.size() >= fabric.switches()) return {TraceEnd::loop, at};
    route.push_back(channel);
    at = fabric.channel_to(channel);
  }
}

}  // namespace contend
