#include "contend/routes/engines/links.hpp"

namespace contend {

SwitchLinks::SwitchLinks(const Fabric& fabric) {
  std::vector<LinkId> link_of(fabric.switch_channels());
  std::vector<ChannelId> channel_of;
  begin_.push_back(0);
  word_begin_.push_back(0);
  port_begin_.push_back(0);
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    by_port_.resize(port_begin_.back() + fabric.switch_ports(s) + 1, kNoLink);
    for (PortNumber port = 1; port <= fabric.switch_ports(s); ++port) {
      const ChannelId channel = fabric.out(s, port);
      if (channel == kNoChannel || !fabric.is_switch_channel(channel)) continue;
      if (fabric.channel_to(channel) == s) continue;
      link_of[channel] = by_port_[port_begin_.back() + port] =
          static_cast<LinkId>(channel_of.size());
      channel_of.push_back(channel);
      to_.push_back(fabric.channel_to(channel));
      port_.push_back(port);
    }
    port_begin_.push_back(by_port_.size());
    const std::size_t degree = channel_of.size() - begin_.back();
    begin_.push_back(static_cast<LinkId>(channel_of.size()));
    word_begin_.push_back(word_begin_.back() + (degree + 63) / 64);
  }
  reverse_.reserve(channel_of.size());
  for (const ChannelId channel : channel_of) reverse_.push_back(link_of[channel ^ 1U]);
}

}  // namespace contend
