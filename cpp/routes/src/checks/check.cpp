#include "contend/routes/checks/check.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

namespace {

std::vector<std::uint32_t> hosts_by_switch(const Fabric& fabric) {
  std::vector<std::uint32_t> count(fabric.switches(), 0);
  for (const SwitchId s : fabric.host_switches()) ++count[s];
  return count;
}

/// Gathers what one worker sees.
class Tally {
 public:
  Tally(const Fabric& fabric, std::span<const std::uint32_t> hosts_at,
        std::span<const SwitchId> sources, std::size_t examples)
      : fabric_(&fabric), hosts_at_(hosts_at), sources_(sources), most_(examples) {
    seen_.hops.assign(fabric.switches() + 1, 0);
    seen_.load.assign(fabric.switch_channels(), 0);
    seen_.addresses.assign(fabric.switch_channels(), 0);
    passing_.assign(fabric.switches(), 0);
    seen_.examples.reserve(kTraceEnds * examples);
  }

  void add(const Destination& to, const InTree& tree, std::span<const Step> steps) {
    for (const SwitchId s : tree.order()) passing_[s] = 0;
    for (const SwitchId source : sources_) count_routes(source, to, tree);
    for (const SwitchId s : std::views::reverse(tree.order())) {
      if (tree.end(s) == TraceEnd::delivered) {
        pass_on(s, tree, steps[s]);
      } else if (tree.last(s) == s) {
        note_fault(s, to, tree);
      }
    }
  }

  const RouteCheck& seen() const { return seen_; }

 private:
  void count_routes(SwitchId source, const Destination& to, const InTree& tree) {
    const bool own = fabric_->host_switch(to.host) == source;
    const std::uint64_t routes = hosts_at_[source] - (own ? 1U : 0U);
    const TraceEnd end = tree.end(source);
    seen_.routes[static_cast<std::size_t>(end)] += routes;
    if (end != TraceEnd::delivered) return;
    seen_.hops[tree.hops(source)] += routes;
    passing_[source] += routes;
  }

  /// Children come before their parent here, so what passes a switch is complete.
  void pass_on(SwitchId s, const InTree& tree, const Step& step) {
    // Nothing leads on from the last switch, nor from one that only the host itself hangs on.
    if (tree.hops(s) == 0 || passing_[s] == 0) return;
    seen_.load[step.channel] += passing_[s];
    ++seen_.addresses[step.channel];
    passing_[step.onward.to()] += passing_[s];
  }

  void note_fault(SwitchId s, const Destination& to, const InTree& tree) {
    const TraceEnd end = tree.end(s);
    const auto kind = static_cast<std::size_t>(end);
    if (seen_.faults[kind]++ >= most_) return;
    const auto from = std::ranges::find_if(sources_, [&](SwitchId source) {
      return tree.end(source) == end && tree.last(source) == s;
    });
    seen_.examples.push_back({end, s, *from, to.host, to.address});
  }

  const Fabric* fabric_;
  std::span<const std::uint32_t> hosts_at_;
  std::span<const SwitchId> sources_;
  std::size_t most_;
  RouteCheck seen_;
  std::vector<std::uint64_t> passing_;
};

template <class T>
void add_to(std::vector<T>& sum, const std::vector<T>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

void join(RouteCheck& whole, const RouteCheck& part, std::size_t examples) {
  std::array<std::size_t, kTraceEnds> had{};
  for (const RouteFault& fault : whole.examples) ++had[static_cast<std::size_t>(fault.end)];
  for (const RouteFault& fault : part.examples) {
    if (had[static_cast<std::size_t>(fault.end)]++ < examples) whole.examples.push_back(fault);
  }
  for (std::size_t kind = 0; kind < kTraceEnds; ++kind) {
    whole.routes[kind] += part.routes[kind];
    whole.faults[kind] += part.faults[kind];
  }
  add_to(whole.hops, part.hops);
  add_to(whole.load, part.load);
  add_to(whole.addresses, part.addresses);
}

}  // namespace

RouteCheck check_routes(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
                        std::size_t examples) {
  if (tables.switches != fabric.switches()) {
    throw Error("forwarding tables of " + std::to_string(tables.switches) +
                " switches for a fabric of " + std::to_string(fabric.switches()));
  }
  const std::vector<Destination> all = destinations(fabric, addresses);
  const std::vector<std::uint32_t> hosts_at = hosts_by_switch(fabric);
  std::vector<SwitchId> sources;
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (hosts_at[s] > 0) sources.push_back(s);
  }
  const auto workers = static_cast<std::size_t>(thread_count());
  std::vector<Tally> tallies;
  tallies.reserve(workers);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    tallies.emplace_back(fabric, hosts_at, sources, examples);
  }
  for_each_in_tree(fabric, tables, all, sources, workers,
                   [&](std::size_t worker, const Destination& to, const InTree& tree,
                       std::span<const Step> steps) { tallies[worker].add(to, tree, steps); });
  RouteCheck whole = tallies[0].seen();
  for (std::size_t worker = 1; worker < workers; ++worker) {
    join(whole, tallies[worker].seen(), examples);
  }
  while (whole.hops.size() > 1 && whole.hops.back() == 0) whole.hops.pop_back();
  return whole;
}

}  // namespace contend
