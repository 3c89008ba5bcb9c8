#include <algorithm>
#include <cmath>
#include <utility>

#include "contend/base/progress.hpp"
#include "contend/routes/checks/check.hpp"

namespace contend {

namespace {

/// Looks at the ways of one row of destinations after the other.
class WaysTally {
 public:
  WaysTally(const Fabric& fabric, const TableHops& hops, const NextHops& next,
            std::span<const SwitchId> sources, WaysCheck& seen, std::size_t examples)
      : fabric_(fabric),
        hops_(hops),
        next_(next),
        sources_(sources),
        seen_(seen),
        most_(examples),
        ways_(fabric),
        hosts_at_(fabric.switches(), 0),
        flow_(fabric.switches()),
        load_(fabric.switch_channels(), 0) {
    for (const SwitchId s : fabric.host_switches()) ++hosts_at_[s];
    seen_.routes.hops.assign(fabric.switches() + 1, 0);
    seen_.routes.load.assign(fabric.switch_channels(), 0);
    seen_.routes.addresses.assign(fabric.switch_channels(), 0);
    seen_.astray.assign(fabric.switch_channels(), 0);
  }

  /// All destinations of one row.
  void add(std::size_t row, std::span<const Destination> all) {
    ways_.follow(next_, row, sources_);
    const SwitchId leaf = fabric_.host_switch(all[0].host);
    for (const SwitchId source : sources_) count_routes(source, leaf, all);
    pass_on(row, leaf, static_cast<std::uint32_t>(all.size()));
  }

  void finish() {
    RouteCheck& routes = seen_.routes;
    for (std::size_t c = 0; c < load_.size(); ++c) {
      routes.load[c] = static_cast<std::uint64_t>(std::llround(load_[c]));
    }
    while (routes.hops.size() > 1 && routes.hops.back() == 0) routes.hops.pop_back();
    std::ranges::stable_sort(routes.examples, {}, &RouteFault::address);
  }

 private:
  void count_routes(SwitchId source, SwitchId leaf, std::span<const Destination> all) {
    const std::uint64_t from = hosts_at_[source] - (source == leaf ? 1U : 0U);
    const std::uint64_t routes = from * all.size();
    flow_[source] = 0;
    if (ways_.arrive(source)) {
      seen_.routes.routes[0] += routes;
      seen_.routes.hops[ways_.hops(source)] += routes;
      flow_[source] = static_cast<double>(routes);
      return;
    }
    const SwitchId last = ways_.last(source);
    const bool noted = std::ranges::find(noted_, last) != noted_.end();
    if (!noted) noted_.push_back(last);
    for (const Destination& to : all) {
      const TraceEnd end = ways_.circle(source) ? TraceEnd::loop : hops_.fault(last, to);
      const auto kind = static_cast<std::size_t>(end);
      seen_.routes.routes[kind] += from;
      if (!noted && seen_.routes.faults[kind]++ < most_) {
        seen_.routes.examples.push_back({end, last, source, to.host, to.address});
      }
    }
  }

  void pass_on(std::size_t row, SwitchId leaf, std::uint32_t addresses) {
    noted_.clear();
    const std::vector<std::uint32_t> distance = distances(fabric_, leaf);
    for (const SwitchId s : ways_.order()) {
      const double here = std::exchange(flow_[s], 0);
      const std::span<const ChannelId> set =
          next_.of_set(next_.set_of[row * fabric_.switches() + s]);
      const bool arrive = ways_.arrive(s);
      for (const ChannelId channel : set) {
        const SwitchId peer = ways_.ends()[channel];
        if (set.size() > 1 && distance[peer] >= distance[s]) seen_.astray[channel] += addresses;
        if (!arrive) continue;
        load_[channel] += here / static_cast<double>(set.size());
        if (here > 0) seen_.routes.addresses[channel] += addresses;
        flow_[peer] += here / static_cast<double>(set.size());
        for (const ChannelId next : next_.of_set(next_.set_of[row * fabric_.switches() + peer])) {
          seen_.dependencies.add(channel, fabric_.channel_from_port(next));
        }
      }
    }
    flow_[leaf] = 0;
  }

  const Fabric& fabric_;
  const TableHops& hops_;
  const NextHops& next_;
  std::span<const SwitchId> sources_;
  WaysCheck& seen_;
  std::size_t most_;
  WaysTo ways_;
  std::vector<std::uint64_t> hosts_at_;
  std::vector<double> flow_;
  std::vector<double> load_;
  std::vector<SwitchId> noted_;  ///< where ways of this row end that do not arrive
};

}  // namespace

WaysCheck check_ways(const Fabric& fabric, const TableView& tables, const GroupView& groups,
                     const AddressView& addresses, std::size_t examples) {
  WaysCheck seen(fabric);
  const TableHops hops(fabric, tables, groups);
  const std::vector<Destination> all = destinations(fabric, addresses);
  NextHops next = hops.rows(all);
  std::vector<SwitchId> sources(fabric.host_switches().begin(), fabric.host_switches().end());
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());

  std::vector<std::vector<Destination>> of_row(next.ends.size());
  for (std::size_t d = 0; d < all.size(); ++d) of_row[next.row_of[d]].push_back(all[d]);
  WaysTally tally(fabric, hops, next, sources, seen, examples);
  for (const std::size_t row : InParts(of_row.size())) {
    tally.add(row, of_row[row]);
  }
  tally.finish();
  return seen;
}

}  // namespace contend
