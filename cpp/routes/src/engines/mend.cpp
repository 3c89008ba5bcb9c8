#include "contend/routes/engines/mend.hpp"

#include <algorithm>

#include "contend/base/error.hpp"
#include "contend/base/tiles.hpp"

namespace contend {

static constexpr std::uint32_t kLost = std::numeric_limits<std::uint32_t>::max();

MendableTables::MendableTables(const Fabric& fabric, const Targets& targets, const Tables& tables)
    : fabric_(fabric), links_(fabric) {
  if (tables.size() != fabric.switches() * targets.addresses) {
    throw Error("tables do not belong to the fabric");
  }
  list_addresses(targets, tables);
  list_users();
  const Remains all(fabric);
  Mending mending(*this, all);
  for (std::uint32_t i = 0; i < addresses_.size(); ++i) {
    if (!mending.arrives(i)) strays_.push_back(i);
  }
}

void MendableTables::list_addresses(const Targets& targets, const Tables& tables) {
  const auto take = [&](const Destined& to) {
    check_interruption();
    bool routed = false;
    for (SwitchId s = 0; s < links_.switches() && !routed; ++s) {
      routed = s != to.at && tables[s * targets.addresses + to.address] != kNoPort;
    }
    if (routed) addresses_.push_back(to);
  };
  for (const Destination& to : destinations(fabric_, targets.hosts)) {
    take({to.address, fabric_.host_switch(to.host), fabric_.host_port(to.host), to.host});
  }
  for (SwitchId s = 0; s < fabric_.switches(); ++s) {
    if (targets.switches[s] != 0) take({targets.switches[s], s, 0, kNoHost});
  }
  for (std::size_t k = 0; k < targets.others.size(); ++k) {
    take({targets.others[k], targets.other_switch[k], targets.other_port[k], kNoHost});
  }
  const std::size_t switches = links_.switches();
  ports_.resize(addresses_.size() * switches);
  for_each_in_tiles(addresses_.size(), switches, [&](std::size_t i, std::size_t s) {
    ports_[i * switches + s] = tables[s * targets.addresses + addresses_[i].address];
  });
}

void MendableTables::list_users() {
  const auto visit = [&](auto&& each) {
    for (const std::uint32_t i : InParts(static_cast<std::uint32_t>(addresses_.size()))) {
      const auto ports = column(i);
      for (SwitchId s = 0; s < ports.size(); ++s) {
        if (const LinkId used = links_.by_port(s, ports[s]); used != kNoLink) each(used, i);
      }
    }
  };
  users_begin_.assign(links_.links() + 1, 0);
  visit([&](LinkId used, std::uint32_t) { ++users_begin_[used + 1]; });
  for (LinkId l = 0; l < links_.links(); ++l) users_begin_[l + 1] += users_begin_[l];
  users_.resize(users_begin_.back());
  std::vector<std::size_t> next(users_begin_.begin(), users_begin_.end() - 1);
  visit([&](LinkId used, std::uint32_t i) { users_[next[used]++] = i; });
}

Mending::Mending(const MendableTables& tables, const Remains& rest)
    : tables_(tables),
      links_(tables.links()),
      rest_(rest),
      link_died_(links_.links(), 0),
      load_(links_.links(), 0),
      tree_(links_.switches()),
      hops_(links_.switches()) {
  const Fabric& fabric = tables.fabric();
  for (SwitchId s = 0; s < links_.switches(); ++s) {
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      link_died_[link] = rest.channel_died[fabric.out(s, links_.port(link))];
      if (link_died_[link] != 0) dead_links_.push_back(link);
      load_[link] = static_cast<std::uint32_t>(tables.users(link).size());
    }
  }
  list_broken();
}

void Mending::list_broken() {
  const auto addresses = tables_.addresses();
  std::vector<std::uint8_t> out(addresses.size(), 0);
  list_unrouted(out);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto& to = addresses[i];
    const bool is_host = to.host != MendableTables::kNoHost;
    if (is_host ? rest_.host_gone[to.host] != 0 : rest_.switch_died[to.at] != 0) out[i] = 1;
    if (out[i] != 0) leave_out(i);
  }
  // Every address once, in order, and none that is left out.
  std::vector<std::uint8_t> is_broken(addresses.size(), 0);
  for (const std::uint32_t i : tables_.strays()) is_broken[i] = 1;
  for (LinkId link = 0; link < links_.links(); ++link) {
    if (link_died_[link] == 0) continue;
    for (const std::uint32_t i : tables_.users(link)) is_broken[i] = 1;
  }
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    if (is_broken[i] != 0 && out[i] == 0) broken_.push_back(i);
  }
}

/// Marks addresses that only switches that died have an entry for, besides their own.
void Mending::list_unrouted(std::vector<std::uint8_t>& out) const {
  const auto& died = rest_.switch_died;
  if (std::find(died.begin(), died.end(), 1) == died.end()) return;
  for (const std::size_t i : InParts(out.size())) {
    const auto ports = tables_.column(i);
    const SwitchId at = tables_.addresses()[i].at;
    SwitchId s = 0;
    while (s < ports.size() && (s == at || died[s] != 0 || ports[s] == kNoPort)) ++s;
    if (s == ports.size()) out[i] = 1;
  }
}

void Mending::leave_out(std::size_t i) {
  const auto ports = tables_.column(i);
  for (SwitchId s = 0; s < ports.size(); ++s) {
    if (const LinkId link = links_.by_port(s, ports[s]); link != kNoLink) {
      --load_[link];
    }
  }
}

bool Mending::arrives(std::size_t i) {
  const auto& to = tables_.addresses()[i];
  const auto ports = tables_.column(i);
  column_.assign(ports.begin(), ports.end());
  follow_all(i);
  return lost_.empty() && column_[to.at] == to.port;
}

std::span<const PortNumber> Mending::mend(std::size_t i) {
  const auto& to = tables_.addresses()[i];
  const auto ports = tables_.column(i);
  column_.assign(ports.begin(), ports.end());
  change(to.at, to.port);
  if (std::ranges::binary_search(tables_.strays(), i)) {
    follow_all(i);
  } else {
    find_lost();
  }
  lead_the_lost(i);
  return column_;
}

void Mending::change(SwitchId s, PortNumber port) {
  if (column_[s] == port) return;
  if (const LinkId before = link_of(s); before != kNoLink) --load_[before];
  column_[s] = port;
  ++changed_;
  if (const LinkId after = link_of(s); after != kNoLink) ++load_[after];
}

/// Where the route of the address at hand goes on from a switch.
Onward Mending::next(SwitchId s, SwitchId target) const {
  if (s == target) return TraceEnd::delivered;
  const LinkId link = link_of(s);
  if (link == kNoLink) return TraceEnd::dead_end;
  return links_.to(link);
}

/// Finds from where routes arrive, whatever they did before.
void Mending::follow_all(std::size_t i) {
  check_interruption();
  tree_.clear();
  lost_.clear();
  const SwitchId target = tables_.addresses()[i].at;
  for (SwitchId s = 0; s < links_.switches(); ++s) {
    if (rest_.switch_died[s] != 0) continue;
    const TraceEnd end = tree_.reach(s, [&](SwitchId at) { return next(at, target); });
    if (end != TraceEnd::delivered) lost_.push_back(s);
  }
}

/// Of an address that arrived from everywhere: who forwarded it over what died, and who to these.
void Mending::find_lost() {
  check_interruption();
  tree_.clear();
  lost_.clear();
  for (const LinkId link : dead_links_) {
    const SwitchId s = links_.from(link);
    if (rest_.switch_died[s] == 0 && column_[s] == links_.port(link)) lost_.push_back(s);
  }
  for (std::size_t k = 0; k < lost_.size(); ++k) {
    for (LinkId link = links_.begin(lost_[k]); link < links_.end(lost_[k]); ++link) {
      const SwitchId far = links_.to(link);
      if (link_died_[link] == 0 && column_[far] == links_.port(links_.reverse(link))) {
        lost_.push_back(far);
      }
    }
  }
  std::ranges::sort(lost_);
}

/// From switches that arrive to those beside them that do not, the nearest first.
void Mending::lead_the_lost(std::size_t i) {
  const SwitchId target = tables_.addresses()[i].at;
  for (const SwitchId s : lost_) {
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      if (link_died_[link] != 0) continue;
      const SwitchId far = links_.to(link);
      const TraceEnd end = tree_.reach(far, [&](SwitchId at) { return next(at, target); });
      hops_[far] = end == TraceEnd::delivered ? tree_.hops(far) : kLost;
    }
  }
  for (const SwitchId s : lost_) hops_[s] = kLost;
  ring_.clear();
  for (const SwitchId s : lost_) {
    std::uint32_t nearest = kLost;
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      if (link_died_[link] == 0) nearest = std::min(nearest, hops_[links_.to(link)]);
    }
    if (nearest != kLost) enter(s, nearest + 1);
  }
  for (std::uint32_t hops = 0; hops < ring_.size(); ++hops) {
    found_.clear();
    for (const SwitchId s : ring_[hops]) {
      if (hops_[s] != kLost) continue;
      hops_[s] = hops;
      found_.push_back(s);
    }
    // In an order of their own, whatever led to them.
    std::sort(found_.begin(), found_.end());
    for (const SwitchId s : found_) change(s, links_.port(least_used(s, hops - 1)));
    for (const SwitchId s : found_) {
      for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
        const SwitchId far = links_.to(link);
        if (link_died_[link] == 0 && hops_[far] == kLost) enter(far, hops + 1);
      }
    }
  }
  for (const SwitchId s : lost_) {
    if (hops_[s] == kLost) change(s, kNoPort);
  }
}

void Mending::enter(SwitchId s, std::uint32_t hops) {
  if (hops >= ring_.size()) ring_.resize(hops + 1);
  ring_[hops].push_back(s);
}

/// Of the links to switches so many hops away the one with fewest addresses.
LinkId Mending::least_used(SwitchId s, std::uint32_t hops) const {
  LinkId best = kNoLink;
  for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
    if (link_died_[link] != 0 || hops_[links_.to(link)] != hops) continue;
    if (best == kNoLink || load_[link] < load_[best]) best = link;
  }
  return best;
}

MendedTables mend(const Fabric& fabric, const Targets& targets, const Tables& tables) {
  const MendableTables mendable(fabric, targets, tables);
  const Remains all(fabric);
  Mending mending(mendable, all);
  MendedTables mended{tables, std::vector<std::size_t>(fabric.switches(), 0)};
  for (const std::uint32_t i : mending.broken()) {
    const auto ports = mending.mend(i);
    const Address address = mendable.addresses()[i].address;
    for (SwitchId s = 0; s < ports.size(); ++s) {
      PortNumber& entry = mended.tables[s * targets.addresses + address];
      if (entry == ports[s]) continue;
      entry = ports[s];
      ++mended.changed[s];
    }
  }
  return mended;
}

}  // namespace contend
