#include "contend/routes/in_tree.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

namespace {

constexpr unsigned kLargestLmc = 7;

}  // namespace

std::vector<Destination> destinations(const Fabric& fabric, const AddressView& addresses) {
  if (addresses.first.size() != fabric.hosts() || addresses.lmc.size() != fabric.hosts()) {
    throw Error("addresses are not those of the fabric's hosts");
  }
  std::vector<Destination> all;
  all.reserve(fabric.hosts());
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    if (addresses.lmc[host] > kLargestLmc) {
      throw Error("LMC " + std::to_string(addresses.lmc[host]) + " of host " +
                  std::to_string(host) + " exceeds 7");
    }
    if (addresses.first[host] == 0) continue;
    for (Address i = 0; i < Address{1} << addresses.lmc[host]; ++i) {
      all.push_back({addresses.first[host] + i, host});
    }
  }
  std::ranges::sort(all, [](const Destination& a, const Destination& b) {
    return a.address != b.address ? a.address < b.address : a.host < b.host;
  });
  return all;
}

void ForwardingBlock::look_up(std::span<const Destination> block) {
  for (SwitchId s = 0; s < fabric_->switches(); ++s) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const PortNumber port = tables_.at(s, block[i].address);
      const ChannelId channel = port == kNoPort ? kNoChannel : fabric_->out(s, port);
      channel_[i * stride_ + s] = channel;
      SwitchId& next = next_[i * stride_ + s];
      if (channel == kNoChannel) {
        next = port == kNoPort ? kNoEntry : kDeadEnd;
      } else {
        next = fabric_->is_switch_channel(channel) ? fabric_->channel_to(channel) : kHost;
      }
    }
  }
}

InTree::InTree(const Fabric& fabric)
    : fabric_(&fabric),
      state_(fabric.switches(), State{kNoSwitch, 0, TraceEnd::delivered, Seen::no}) {
  order_.reserve(fabric.switches());
  path_.reserve(fabric.switches());
}

void InTree::grow(const ForwardingBlock& next, std::size_t i, HostId to,
                  std::span<const SwitchId> sources) {
  for (const SwitchId s : order_) state_[s].seen = Seen::no;
  order_.clear();
  channel_ = next.channel(i);
  next_ = next.next(i);
  for (const SwitchId source : sources) {
    if (state_[source].seen == Seen::no) walk(to, source);
  }
}

void InTree::walk(HostId to, SwitchId from) {
  path_.clear();
  SwitchId at = from;
  while (state_[at].seen == Seen::no) {
    const SwitchId next = next_[at];
    if (next >= ForwardingBlock::kHost) {
      state_[at] = {at, 0, ended(at, to), Seen::resolved};
      order_.push_back(at);
      break;
    }
    state_[at].seen = Seen::on_path;
    path_.push_back(at);
    at = next;
  }
  if (state_[at].seen == Seen::on_path) close_loop(at);
  State state = state_[at];
  for (; !path_.empty(); path_.pop_back()) {
    ++state.hops;
    state_[path_.back()] = state;
    order_.push_back(path_.back());
  }
}

TraceEnd InTree::ended(SwitchId at, HostId to) const {
  if (next_[at] == ForwardingBlock::kNoEntry) return TraceEnd::no_entry;
  if (next_[at] == ForwardingBlock::kDeadEnd) return TraceEnd::dead_end;
  return fabric_->ejected_host(channel_[at]) == to ? TraceEnd::delivered : TraceEnd::wrong_host;
}

/// The end of the path, from `again` on, is a loop: resolves it and takes it off the path.
void InTree::close_loop(SwitchId again) {
  const auto begin = std::ranges::find(path_, again);
  const SwitchId lowest = *std::min_element(begin, path_.end());
  for (auto s = begin; s != path_.end(); ++s) {
    state_[*s] = {lowest, 0, TraceEnd::loop, Seen::resolved};
    order_.push_back(*s);
  }
  path_.erase(begin, path_.end());
}

}  // namespace contend
