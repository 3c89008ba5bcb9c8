#include "contend/routes/in_tree.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

namespace {

constexpr std::uint8_t kUnseen = 0;
constexpr std::uint8_t kOnPath = 1;
constexpr std::uint8_t kResolved = 2;
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

InTree::InTree(const Fabric& fabric)
    : fabric_(&fabric),
      seen_(fabric.switches(), kUnseen),
      end_(fabric.switches()),
      last_(fabric.switches()),
      hops_(fabric.switches()),
      out_(fabric.switches()) {
  order_.reserve(fabric.switches());
  path_.reserve(fabric.switches());
}

void InTree::grow(std::span<const PortNumber> column, HostId to,
                  std::span<const SwitchId> sources) {
  for (const SwitchId s : order_) seen_[s] = kUnseen;
  order_.clear();
  for (const SwitchId source : sources) {
    if (seen_[source] == kUnseen) walk(column, to, source);
  }
}

void InTree::walk(std::span<const PortNumber> column, HostId to, SwitchId from) {
  path_.clear();
  SwitchId at = from;
  while (seen_[at] == kUnseen) {
    seen_[at] = kOnPath;
    path_.push_back(at);
    const PortNumber port = column[at];
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric_->out(at, port);
    out_[at] = channel;
    last_[at] = at;
    hops_[at] = 0;
    if (channel == kNoChannel) {
      end_[at] = port == kNoPort ? TraceEnd::no_entry : TraceEnd::dead_end;
    } else if (!fabric_->is_switch_channel(channel)) {
      const bool right = fabric_->ejected_host(channel) == to;
      end_[at] = right ? TraceEnd::delivered : TraceEnd::wrong_host;
    } else {
      at = fabric_->channel_to(channel);
      continue;
    }
    seen_[at] = kResolved;
    order_.push_back(at);
    path_.pop_back();
  }
  if (seen_[at] == kOnPath) close_loop(at);
  for (; !path_.empty(); path_.pop_back()) {
    const SwitchId s = path_.back();
    end_[s] = end_[at];
    last_[s] = last_[at];
    hops_[s] = hops_[at] + 1;
    seen_[s] = kResolved;
    order_.push_back(s);
    at = s;
  }
}

/// The end of the path, from `again` on, is a loop: resolves it and takes it off the path.
void InTree::close_loop(SwitchId again) {
  const auto begin = std::ranges::find(path_, again);
  const SwitchId lowest = *std::min_element(begin, path_.end());
  for (auto s = begin; s != path_.end(); ++s) {
    end_[*s] = TraceEnd::loop;
    last_[*s] = lowest;
    seen_[*s] = kResolved;
    order_.push_back(*s);
  }
  path_.erase(begin, path_.end());
}

void TableColumns::gather(std::span<const Destination> block) {
  for (SwitchId s = 0; s < tables_.switches; ++s) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      ports_[i * tables_.switches + s] = tables_.at(s, block[i].address);
    }
  }
}

}  // namespace contend
