#include "contend/routes/engines/balance.hpp"

#include <algorithm>
#include <numeric>

#include "contend/base/threads.hpp"

namespace contend {

namespace {

// Destination switches are handled in batches: their link sets are found in parallel by
// destination, then used in parallel by switch. A batch of sets should fit the cache.
constexpr std::size_t kBatch = 64;

std::uint64_t reversed_bytes(std::uint64_t value) {
  std::uint64_t reversed = 0;
  for (int byte = 0; byte < 8; ++byte, value >>= 8) reversed = reversed << 8 | (value & 0xFF);
  return reversed;
}

class LeastLoaded {
 public:
  LeastLoaded(const Fabric& fabric, const SwitchLinks& links, const Targets& targets, Spread spread)
      : fabric_(fabric),
        links_(links),
        targets_(targets),
        spread_(spread),
        hosts_(hosts_by_port(fabric, targets)),
        load_(links.links(), 0),
        tables_(fabric.switches() * targets.addresses, kNoPort) {}

  Tables run(const MakeNextLinks& make_next) {
    const std::vector<SwitchId> order = by_hosts_and_guid(hosts_, targets_);
    const std::uint8_t most =
        targets_.hosts.lmc.empty() ? std::uint8_t{0} : std::ranges::max(targets_.hosts.lmc);
    const Address addresses = Address{1} << most;
    Progress passes(addresses + 1);
    std::vector<SwitchId> all(fabric_.switches());
    std::iota(all.begin(), all.end(), SwitchId{0});
    pass(make_next, order, [this](SwitchId at, SwitchId destination, std::vector<LinkId>& allowed) {
      first_addresses(at, destination, allowed);
    });
    passes.done();
    pass(make_next, all, [this](SwitchId at, SwitchId destination, std::vector<LinkId>& allowed) {
      switch_address(at, destination, allowed);
    });
    passes.done();
    for (Address nth = 1; nth < addresses; ++nth) {
      pass(make_next, order,
           [this, nth](SwitchId at, SwitchId destination, std::vector<LinkId>& allowed) {
             further_addresses(at, destination, nth, allowed);
           });
      passes.done();
    }
    return std::move(tables_);
  }

 private:
  /// Calls `handle(at, destination, allowed links)` for all switches and the given destinations,
  /// for every switch in the order of destinations.
  template <class Handle>
  void pass(const MakeNextLinks& make_next, const std::vector<SwitchId>& destinations,
            const Handle& handle) {
    const std::size_t words = links_.set_words();
    std::vector<std::uint64_t> sets(kBatch * words);
    const int threads = thread_count();
    std::vector<NextLinks> next;
    for (int thread = 0; thread < threads; ++thread) next.push_back(make_next());
    Progress steps(2 * (destinations.size() / kBatch + 1));
    for (std::size_t first = 0; first < destinations.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, destinations.size() - first);
      const auto set_of = [&](std::size_t k) {
        return LinkSet(links_, std::span(sets).subspan(k * words, words));
      };
      in_parallel(threads, count, 1, [&](const Pieces& pieces) {
        for (const std::size_t k : pieces) {
          LinkSet set = set_of(k);
          set.clear();
          next[pieces.thread()](destinations[first + k], set);
        }
      });
      steps.done();
      in_parallel(threads, fabric_.switches(), 16, [&](const Pieces& pieces) {
        std::vector<LinkId> allowed;
        for (const std::size_t s : pieces) {
          const auto at = static_cast<SwitchId>(s);
          for (std::size_t k = 0; k < count; ++k) {
            allowed.clear();
            set_of(k).out_of(at, allowed);
            if (spread_ == Spread::one_neighbour) keep_one_neighbour(allowed);
            handle(at, destinations[first + k], allowed);
          }
        }
      });
      steps.done();
    }
  }

  void keep_one_neighbour(std::vector<LinkId>& allowed) const {
    if (allowed.empty()) return;
    const SwitchId neighbour = links_.to(allowed.front());
    std::erase_if(allowed, [&](LinkId link) { return links_.to(link) != neighbour; });
  }

  PortNumber& entry(SwitchId at, Address address) {
    return tables_[at * targets_.addresses + address];
  }

  void first_addresses(SwitchId at, SwitchId destination, std::span<const LinkId> allowed) {
    const std::vector<HostId>& hosts = hosts_[destination];
    if (at == destination) {
      for (const HostId host : hosts) {
        entry(at, targets_.hosts.first[host]) = fabric_.host_port(host);
      }
      return;
    }
    if (allowed.empty()) return;
    // The least used link for one host after the other: all links with the smallest load in the
    // order of ports, then all with the next.
    for (std::size_t done = 0; done < hosts.size();) {
      std::uint32_t least = load_[allowed[0]];
      for (const LinkId link : allowed) least = std::min(least, load_[link]);
      for (const LinkId link : allowed) {
        if (load_[link] != least) continue;
        entry(at, targets_.hosts.first[hosts[done]]) = links_.port(link);
        ++load_[link];
        if (++done == hosts.size()) break;
      }
    }
  }

  void switch_address(SwitchId at, SwitchId destination, std::span<const LinkId> allowed) {
    const Address address = targets_.switches[destination];
    if (address == 0) return;
    if (at == destination) {
      entry(at, address) = 0;
    } else if (!allowed.empty()) {
      const LinkId best =
          *std::ranges::min_element(allowed, {}, [&](LinkId link) { return load_[link]; });
      entry(at, address) = links_.port(best);
    }
  }

  void further_addresses(SwitchId at, SwitchId destination, Address nth,
                         std::span<const LinkId> allowed) {
    for (const HostId host : hosts_[destination]) {
      if (nth >> targets_.hosts.lmc[host] != 0) continue;
      const Address first = targets_.hosts.first[host];
      if (at == destination) {
        entry(at, first + nth) = fabric_.host_port(host);
      } else if (!allowed.empty()) {
        const LinkId link = spread_ == Spread::any ? least_shared(at, first, nth, allowed)
                                                   : least_repeated(at, first, nth, allowed);
        entry(at, first + nth) = links_.port(link);
        ++load_[link];
      }
    }
  }

  /// The link for a host's nth address: one to a box that no earlier address uses, else to such a
  /// switch, else any; of these the least loaded, then the one whose switch the fewest earlier
  /// addresses use, then the next after the port of the address before.
  LinkId least_shared(SwitchId at, Address first, Address nth, std::span<const LinkId> allowed) {
    const PortNumber before = entry(at, first + nth - 1);
    const auto start = static_cast<std::size_t>(
        std::ranges::find_if(allowed, [&](LinkId link) { return links_.port(link) > before; }) -
        allowed.begin());
    LinkId best = links_.end(at);
    LinkId best_box = best;
    LinkId best_switch = best;
    std::uint32_t fewest = 0xFFFFFFFF;
    const auto better = [&](LinkId link, LinkId than) {
      return than == links_.end(at) || load_[link] < load_[than];
    };
    for (std::size_t k = 0; k < allowed.size(); ++k) {
      const LinkId link = allowed[(start + k) % allowed.size()];
      const auto [box_used, switch_uses] = earlier_uses(at, first, nth, links_.to(link));
      if (!box_used && better(link, best_box)) {
        best_box = link;
        fewest = 0;
      } else if (box_used && switch_uses == 0 && better(link, best_switch)) {
        best_switch = link;
        fewest = 0;
      }
      const bool fewer = switch_uses != 0 && switch_uses < fewest;
      const bool lighter = better(link, best);
      if (lighter || (fewer && load_[link] == load_[best]))
        best = link;
      else
        continue;
      if (fewer) fewest = switch_uses;
    }
    if (best_box != links_.end(at)) return best_box;
    return best_switch != links_.end(at) ? best_switch : best;
  }

  /// The link for a host's nth address where all lead to one switch: the least loaded, then the one
  /// that the fewest earlier addresses use. (`fewest` outlives a lighter link; so it does there.)
  LinkId least_repeated(SwitchId at, Address first, Address nth, std::span<const LinkId> allowed) {
    LinkId best = links_.end(at);
    std::ptrdiff_t fewest = nth + 1;
    for (const LinkId link : allowed) {
      const std::span<const PortNumber> earlier(&entry(at, first), nth);
      const std::ptrdiff_t uses = std::ranges::count(earlier, links_.port(link));
      const bool lighter = best == links_.end(at) || load_[link] < load_[best];
      if (lighter || (load_[link] == load_[best] && uses < fewest)) {
        best = link;
        fewest = std::min(fewest, uses);
      }
    }
    return best;
  }

  struct Uses {
    bool box;
    std::uint32_t of_switch;
  };

  Uses earlier_uses(SwitchId at, Address first, Address nth, SwitchId neighbour) {
    Uses uses{false, 0};
    for (Address address = first; address < first + nth; ++address) {
      const SwitchId used = links_.to(links_.by_port(at, entry(at, address)));
      uses.box = uses.box || targets_.switch_system[used] == targets_.switch_system[neighbour];
      uses.of_switch += used == neighbour;
    }
    return uses;
  }

  const Fabric& fabric_;
  const SwitchLinks& links_;
  const Targets& targets_;
  const Spread spread_;
  const std::vector<std::vector<HostId>> hosts_;
  std::vector<std::uint32_t> load_;  ///< by link; a switch's links are touched by one thread
  Tables tables_;
};

}  // namespace

std::vector<std::vector<HostId>> hosts_by_port(const Fabric& fabric, const Targets& targets) {
  std::vector<std::vector<HostId>> hosts(fabric.switches());
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    if (targets.hosts.first[host] != 0) hosts[fabric.host_switch(host)].push_back(host);
  }
  for (auto& group : hosts) {
    std::ranges::sort(group, {}, [&](HostId host) { return fabric.host_port(host); });
  }
  return hosts;
}

std::vector<SwitchId> by_hosts_and_guid(std::span<const std::vector<HostId>> hosts,
                                        const Targets& targets) {
  std::vector<SwitchId> order;
  for (SwitchId s = 0; s < hosts.size(); ++s) {
    if (!hosts[s].empty()) order.push_back(s);
  }
  std::ranges::sort(order, [&](SwitchId a, SwitchId b) {
    if (hosts[a].size() != hosts[b].size()) return hosts[a].size() > hosts[b].size();
    const std::uint64_t guid_a = reversed_bytes(targets.switch_guid[a]);
    const std::uint64_t guid_b = reversed_bytes(targets.switch_guid[b]);
    return guid_a != guid_b ? guid_a < guid_b : a < b;
  });
  return order;
}

Tables least_loaded(const Fabric& fabric, const SwitchLinks& links, const Targets& targets,
                    const MakeNextLinks& make_next, Spread spread) {
  return LeastLoaded(fabric, links, targets, spread).run(make_next);
}

}  // namespace contend
