#include "contend/fabric/fabric.hpp"

#include <string>

#include "contend/base/error.hpp"

namespace contend {

Fabric::Fabric(std::vector<SwitchId> host_switch, std::vector<PortNumber> host_port,
               std::vector<PortNumber> switch_ports, const std::vector<Cable>& cables)
    : host_switch_(std::move(host_switch)), host_port_(std::move(host_port)) {
  if (host_switch_.size() != host_port_.size()) {
    throw Error("host_switch and host_port must have the same length");
  }
  if (host_switch_.size() > 0x1000'0000 || cables.size() > 0x2000'0000) {
    throw Error("more hosts or cables than channel numbers can hold");
  }
  port_begin_.reserve(switch_ports.size() + 1);
  port_begin_.push_back(0);
  for (const PortNumber ports : switch_ports) {
    port_begin_.push_back(port_begin_.back() + ports + 1U);
  }
  port_channel_.assign(port_begin_.back(), kNoChannel);
  channel_to_.reserve(2 * cables.size());
  channel_from_port_.reserve(2 * cables.size());
  for (const Cable& cable : cables) {
    const auto channel = static_cast<ChannelId>(channel_to_.size());
    channel_to_.push_back(cable.to);
    channel_to_.push_back(cable.from);
    channel_from_port_.push_back(cable.from_port);
    channel_from_port_.push_back(cable.to_port);
    plug(cable.from, cable.from_port, channel);
    plug(cable.to, cable.to_port, channel + 1);
  }
  for (std::size_t host = 0; host < host_switch_.size(); ++host) {
    plug(host_switch_[host], host_port_[host], ejection(static_cast<HostId>(host)));
  }
}

void Fabric::plug(SwitchId s, PortNumber port, ChannelId channel) {
  if (s >= switches()) {
    throw Error("switch " + std::to_string(s) + " of " + std::to_string(switches()));
  }
  const std::size_t at = port_begin_[s] + port;
  if (port == 0 || at >= port_begin_[s + 1]) {
    throw Error("port " + std::to_string(port) + " of switch " + std::to_string(s) + " with " +
                std::to_string(switch_ports(s)) + " ports");
  }
  if (port_channel_[at] != kNoChannel) {
    throw Error("port " + std::to_string(port) + " of switch " + std::to_string(s) +
                " holds two cables");
  }
  port_channel_[at] = channel;
}

}  // namespace contend
