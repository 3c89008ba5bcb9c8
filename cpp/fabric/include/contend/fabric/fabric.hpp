#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"

namespace contend {

/// One cable between two switches; it carries two channels, one in each direction.
struct Cable {
  SwitchId from;
  PortNumber from_port;
  SwitchId to;
  PortNumber to_port;
};

/// Immutable graph of hosts, switches and directed channels.
///
/// Every host hangs on exactly one switch port. Channels are numbered: those between switches
/// first (cable k is channels 2k, from -> to, and 2k+1, to -> from), then one per host into the
/// network (`injection`), then one per host out of it (`ejection`).
class Fabric {
 public:
  /// Cost: linear in hosts, cables and ports. Throws Error when an id is out of range or a port
  /// is used twice.
  Fabric(std::vector<SwitchId> host_switch, std::vector<PortNumber> host_port,
         std::vector<PortNumber> switch_ports, const std::vector<Cable>& cables);

  std::size_t hosts() const { return host_switch_.size(); }
  std::size_t switches() const { return port_begin_.size() - 1; }
  std::size_t cables() const { return channel_to_.size() / 2; }
  /// Channels between switches.
  std::size_t switch_channels() const { return channel_to_.size(); }
  /// All channels, those of hosts included.
  std::size_t channels() const { return channel_to_.size() + 2 * hosts(); }

  ChannelId injection(HostId host) const {
    return static_cast<ChannelId>(switch_channels() + host);
  }
  ChannelId ejection(HostId host) const {
    return static_cast<ChannelId>(switch_channels() + hosts() + host);
  }
  bool is_switch_channel(ChannelId channel) const { return channel < switch_channels(); }
  HostId ejected_host(ChannelId channel) const {
    return static_cast<HostId>(channel - switch_channels() - hosts());
  }

  SwitchId host_switch(HostId host) const { return host_switch_[host]; }
  PortNumber host_port(HostId host) const { return host_port_[host]; }
  /// Number of external ports of a switch; ports are 1 .. switch_ports.
  PortNumber switch_ports(SwitchId s) const {
    return static_cast<PortNumber>(port_begin_[s + 1] - port_begin_[s] - 1);
  }

  /// The channel that leaves a switch through a port: between switches, an ejection, or
  /// kNoChannel when the port does not exist or nothing is plugged in.
  ChannelId out(SwitchId s, PortNumber port) const {
    const std::size_t at = port_begin_[s] + port;
    return at < port_begin_[s + 1] ? port_channel_[at] : kNoChannel;
  }

  /// End points of a channel between switches.
  SwitchId channel_from(ChannelId channel) const { return channel_to_[channel ^ 1U]; }
  SwitchId channel_to(ChannelId channel) const { return channel_to_[channel]; }
  const std::vector<SwitchId>& channel_ends() const { return channel_to_; }
  PortNumber channel_from_port(ChannelId channel) const { return channel_from_port_[channel]; }
  PortNumber channel_to_port(ChannelId channel) const { return channel_from_port_[channel ^ 1U]; }

  std::span<const SwitchId> host_switches() const { return host_switch_; }

 private:
  void plug(SwitchId s, PortNumber port, ChannelId channel);

  std::vector<SwitchId> host_switch_;
  std::vector<PortNumber> host_port_;
  std::vector<std::size_t> port_begin_;  ///< first entry of a switch in port_channel_
  std::vector<ChannelId> port_channel_;  ///< by switch and port (port 0 included, unused)
  std::vector<SwitchId> channel_to_;
  std::vector<PortNumber> channel_from_port_;
};

}  // namespace contend
