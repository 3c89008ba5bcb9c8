#include "contend/routes/ways/in_tree.hpp"

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

void ForwardingBlock::begin_at(std::span<const SwitchId> sources) {
  for (const SwitchId s : sources_) is_source_[s] = 0;
  sources_.assign(sources.begin(), sources.end());
  for (const SwitchId s : sources_) is_source_[s] = 1;
}

void ForwardingBlock::look_up(std::span<const Destination> block) {
  block_ = block;
  if (block.empty()) return;
  choose_tables();
  // To list all ports takes as long as to look up a few addresses.
  constexpr std::size_t kFew = 8;
  if (first_port_.empty() && block.size() > kFew) list_ports();
  for (const SwitchId s : sources_) {
    Step* step = steps_.data() + s;
    for (const Destination& to : block) {
      *step = by_tables(s, to);
      step += stride_;
    }
  }
}

/// Reads from a copy of a part of the tables, once several blocks lie near each other.
void ForwardingBlock::choose_tables() {
  const std::size_t first = block_.front().address;
  const std::size_t last = block_.back().address;
  if (first < near_begin_ || last >= near_end_) {
    const bool follows = first == follows_ && last - first < kBlock && last < tables_.addresses;
    follows_ = last + 1;
    if (!follows) {
      now_ = tables_;
      now_begin_ = 0;
      return;
    }
    copy_near(first);
  }
  now_ = {near_.data(), tables_.switches, kNear};
  now_begin_ = near_begin_;
}

void ForwardingBlock::copy_near(std::size_t first) {
  near_.resize(tables_.switches * kNear);
  near_begin_ = first;
  near_end_ = std::min(first + kNear, tables_.addresses);
  for (std::size_t s = 0; s < tables_.switches; ++s) {
    std::copy_n(tables_.ports + s * tables_.addresses + first, near_end_ - first,
                near_.data() + s * kNear);
  }
}

void ForwardingBlock::list_ports() {
  first_port_.push_back(0);
  for (SwitchId s = 0; s < fabric_->switches(); ++s) {
    for (PortNumber port = 0; port <= fabric_->switch_ports(s); ++port) {
      const ChannelId channel = fabric_->out(s, port);
      const bool on = channel != kNoChannel && fabric_->is_switch_channel(channel);
      by_port_.push_back(on ? Step{channel, fabric_->channel_to(channel)} : Step{});
    }
    first_port_.push_back(by_port_.size());
  }
}

/// What was met last, from `again` on, is a loop: resolves it, and says where it begins in order_.
std::size_t InTree::close_loop(SwitchId again) {
  std::size_t begin = reached_ - 1;
  while (order_[begin] != again) --begin;
  const std::span<const SwitchId> loop = order().subspan(begin);
  const SwitchId lowest = std::ranges::min(loop);
  for (const SwitchId s : loop) {
    state_[s] = {lowest, now_ + static_cast<std::uint32_t>(TraceEnd::loop)};
  }
  return begin;
}

}  // namespace contend
