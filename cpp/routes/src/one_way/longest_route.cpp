#include <algorithm>
#include <numeric>
#include <vector>

#include "columns.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/checks/unreachable.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

void resolve_many(const Resolver& resolver, std::span<const Place> source,
                  std::span<const Place> target, std::uint64_t draw, std::uint32_t* channels) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for (std::size_t first = 0; first < source.size(); first += kBlock) {
    check_interruption();
    const std::size_t count = std::min(kBlock, source.size() - first);
    resolver.resolve_drawn(source.subspan(first, count), target.subspan(first, count), draw,
                           channels + first * resolver.stride());
  }
}

std::size_t longest_route(const Fabric& fabric, const TableView& tables,
                          const AddressView& addresses, const Places& places) {
  const PlaceColumns columns(fabric, addresses, places);
  // A place by itself has nobody to reach.
  if (columns.places() < 2) return 0;
  // By address, as neighbours in the tables are looked up faster together.
  std::vector<std::size_t> order(columns.columns());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return columns.address(c); });
  std::vector<Destination> all;
  all.reserve(order.size());
  for (const std::size_t c : order) all.push_back({columns.address(c), columns.host(c)});
  const auto workers = static_cast<std::size_t>(thread_count());
  std::vector<std::uint32_t> longest(workers, 0);
  // The first failing column is reported, whichever worker finds one first.
  std::vector<std::size_t> failures(workers, all.size());
  for_each_in_tree(fabric, tables, all, columns.leaves(), workers,
                   [&](std::size_t worker, const Destination& to, const InTree& tree, auto) {
                     for (const SwitchId leaf : columns.leaves()) {
                       if (tree.end(leaf) == TraceEnd::delivered) {
                         longest[worker] = std::max(longest[worker], tree.hops(leaf));
                       } else {
                         const std::size_t column =
                             order[static_cast<std::size_t>(&to - all.data())];
                         failures[worker] = std::min(failures[worker], column);
                       }
                     }
                   });
  const std::size_t failed = *std::ranges::min_element(failures);
  const std::size_t most = *std::ranges::max_element(longest);
  if (failed == all.size()) return most;
  std::vector<ChannelId> route;
  for (const SwitchId leaf : columns.leaves()) {
    const Trace walked =
        trace(fabric, tables, leaf, columns.host(failed), columns.address(failed), route);
    if (walked.end != TraceEnd::delivered) {
      throw UnreachableError(columns.host(failed), columns.address(failed), leaf, walked.last,
                             meaning(walked.end));
    }
  }
  return most;
}

}  // namespace contend
