#include <algorithm>
#include <unordered_map>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/mixed.hpp"
#include "contend/routes/checks/unreachable.hpp"
#include "contend/routes/ways/next_hops.hpp"
#include "set_numbers.hpp"

namespace contend {

TableHops::TableHops(const Fabric& fabric, const TableView& tables, const GroupView& groups)
    : fabric_(&fabric), tables_(tables), groups_(groups) {
  if (tables.switches != fabric.switches()) throw Error("tables do not belong to the fabric");
  const bool ordered = std::is_sorted(groups.first.begin(), groups.first.end());
  if (groups.first.size() < 2 || !ordered || groups.first.back() > groups.ports.size()) {
    throw Error("groups of ports that do not follow one another");
  }
  const std::size_t count = groups.first.size() - 1;
  const std::uint16_t* const end = groups.of_entry + tables.switches * tables.addresses;
  if (std::any_of(groups.of_entry, end, [&](std::uint16_t group) { return group >= count; })) {
    throw Error("entries of groups that do not exist");
  }
}

/// The sets of a NextHops by what entries say.
class TableHops::Sets {
 public:
  Sets(const TableHops& hops, NextHops& next)
      : hops_(hops), numbers_(next), of_channel_(hops.fabric_->switch_channels(), 0) {}

  std::uint32_t of_port(SwitchId s, PortNumber port) {
    const Fabric& fabric = *hops_.fabric_;
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric.out(s, port);
    if (channel == kNoChannel || !fabric.is_switch_channel(channel)) return 0;
    if (of_channel_[channel] == 0) of_channel_[channel] = numbers_.number({channel});
    return of_channel_[channel];
  }

  std::uint32_t of_group(SwitchId s, std::uint16_t group) {
    const std::uint64_t key = std::uint64_t{s} << 16 | group;
    if (key == last_key_) return last_;
    const auto [found, fresh] = of_group_.try_emplace(key, 0);
    if (fresh) found->second = number_of(s, group);
    last_key_ = key;
    return last_ = found->second;
  }

 private:
  std::uint32_t number_of(SwitchId s, std::uint16_t group) {
    const Fabric& fabric = *hops_.fabric_;
    std::vector<ChannelId> channels;
    for (const PortNumber port : hops_.ports_of(group)) {
      const ChannelId channel = fabric.out(s, port);
      if (channel == kNoChannel) continue;
      if (!fabric.is_switch_channel(channel)) return 0;
      channels.push_back(channel);
    }
    return numbers_.number(channels);
  }

  const TableHops& hops_;
  SetNumbers numbers_;
  std::vector<std::uint32_t> of_channel_;
  std::unordered_map<std::uint64_t, std::uint32_t> of_group_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_ = 0;
};

bool TableHops::delivers(const Destination& to) const {
  const SwitchId s = fabric_->host_switch(to.host);
  const auto leads_there = [&](PortNumber port) {
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric_->out(s, port);
    return channel != kNoChannel && !fabric_->is_switch_channel(channel) &&
           fabric_->ejected_host(channel) == to.host;
  };
  const std::uint16_t used = group(s, to.address);
  if (used == 0) return leads_there(tables_.at(s, to.address));
  const std::span<const PortNumber> ports = ports_of(used);
  return std::any_of(ports.begin(), ports.end(), leads_there);
}

TraceEnd TableHops::fault(SwitchId s, const Destination& to) const {
  const std::uint16_t used = group(s, to.address);
  const PortNumber port = tables_.at(s, to.address);
  if (used == 0 && port == kNoPort) return TraceEnd::no_entry;
  const std::span<const PortNumber> ports =
      used == 0 ? std::span<const PortNumber>(&port, 1) : ports_of(used);
  const bool plugged = std::any_of(ports.begin(), ports.end(), [&](PortNumber each) {
    return fabric_->out(s, each) != kNoChannel;
  });
  return plugged ? TraceEnd::wrong_host : TraceEnd::dead_end;
}

NextHops TableHops::rows(std::span<const Destination> all) const {
  const std::size_t switches = fabric_->switches();
  constexpr std::size_t kBlock = ForwardingBlock::kBlock;
  NextHops next;
  next.row_of.reserve(all.size());
  Sets sets(*this, next);
  std::unordered_multimap<std::uint64_t, std::uint32_t> known;
  std::vector<SwitchId> leaf_of_row;
  std::vector<std::uint32_t> block(kBlock * switches);
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    check_interruption();
    const std::span<const Destination> here =
        all.subspan(begin, std::min(kBlock, all.size() - begin));
    // Tables lie switch by switch, so several destinations are looked up at once.
    for (SwitchId s = 0; s < switches; ++s) {
      for (std::size_t i = 0; i < here.size(); ++i) {
        const std::uint16_t used = group(s, here[i].address);
        block[i * switches + s] =
            used != 0 ? sets.of_group(s, used) : sets.of_port(s, tables_.at(s, here[i].address));
      }
    }
    for (std::size_t i = 0; i < here.size(); ++i) {
      const std::span<std::uint32_t> row(block.data() + i * switches, switches);
      const SwitchId leaf = fabric_->host_switch(here[i].host);
      const SwitchId end = delivers(here[i]) ? leaf : kNoSwitch;
      if (end == leaf) row[leaf] = 0;
      std::uint64_t key = mixed(leaf) + end;
      for (const std::uint32_t set : row) key = mixed(key ^ set) + 1;
      std::uint32_t number = find_known(known, key, [&](std::uint32_t there) {
        return leaf_of_row[there] == leaf && next.ends[there] == end &&
               std::equal(row.begin(), row.end(),
                          next.set_of.begin() + static_cast<std::ptrdiff_t>(there * switches));
      });
      if (number == kFar) {
        number = static_cast<std::uint32_t>(next.ends.size());
        next.ends.push_back(end);
        leaf_of_row.push_back(leaf);
        next.set_of.insert(next.set_of.end(), row.begin(), row.end());
        known.emplace(key, number);
      }
      next.row_of.push_back(number);
    }
  }
  return next;
}

NextHops next_hops(const Fabric& fabric, const TableView& tables, const GroupView& groups,
                   const AddressView& addresses, const Places& places,
                   std::vector<std::uint8_t>* cut) {
  std::vector<Destination> all;
  for (const HostId host : places.hosts) all.push_back({addresses.first[host], host});
  const TableHops hops(fabric, tables, groups);
  NextHops next = hops.rows(all);
  next.sources = leaves_of(fabric, places.hosts);
  if (cut != nullptr) cut->assign(next.ends.size() * next.sources.size(), 0);
  if (places.hosts.size() < 2) {
    next.ends = next.sources;  // A place by itself has nobody to reach.
    return next;
  }
  WaysTo ways(fabric);
  std::vector<std::uint8_t> seen(next.ends.size(), 0);
  for (std::size_t d = 0; d < all.size(); ++d) {
    const std::uint32_t row = next.row_of[d];
    if (std::exchange(seen[row], 1) != 0) continue;
    check_interruption();
    ways.follow(next, row, next.sources);
    for (std::size_t k = 0; k < next.sources.size(); ++k) {
      const SwitchId source = next.sources[k];
      if (ways.arrive(source)) {
        next.hops = std::max<std::size_t>(next.hops, ways.hops(source));
        continue;
      }
      if (cut != nullptr) {
        (*cut)[row * next.sources.size() + k] = 1;
        continue;
      }
      const SwitchId last = ways.last(source);
      throw UnreachableError(
          all[d].host, all[d].address, source, last,
          ways.circle(source) ? meaning(TraceEnd::loop) : meaning(hops.fault(last, all[d])));
    }
    // Nobody is told of a way there, but a row has an end.
    if (next.ends[row] == kNoSwitch) next.ends[row] = fabric.host_switch(all[d].host);
  }
  return next;
}

}  // namespace contend
