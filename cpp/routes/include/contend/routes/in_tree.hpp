#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"
#include "contend/routes/trace.hpp"

namespace contend {

/// Where routes lead: a host and one of its addresses.
struct Destination {
  Address address;
  HostId host;
};

/// Every address of every host, by address; hosts without one are left out.
/// Throws Error when the columns do not belong to the fabric or an LMC exceeds 7.
std::vector<Destination> destinations(const Fabric& fabric, const AddressView& addresses);

/// All routes from some switches to one address. A table has one port per address, so they form a
/// tree that grows from the destination (and, in faulty tables, from the places where routes end).
///
/// Every switch on any of the routes is resolved once, however many routes pass it. Cost: one
/// table entry per switch on the routes. Memory: a few words per switch, reused.
class InTree {
 public:
  explicit InTree(const Fabric& fabric);

  /// Walks from every source; `column` is the port of every switch for the address of `to`.
  void grow(std::span<const PortNumber> column, HostId to, std::span<const SwitchId> sources);

  /// The switches on the routes, each after the switch it forwards to (loops aside).
  std::span<const SwitchId> order() const { return order_; }
  /// How routes end that pass a switch of `order`.
  TraceEnd end(SwitchId s) const { return end_[s]; }
  /// Where they end; of a loop, its switch with the lowest number.
  SwitchId last(SwitchId s) const { return last_[s]; }
  /// Channels between switches from here to the destination; only of delivered routes.
  std::uint32_t hops(SwitchId s) const { return hops_[s]; }
  /// The channel by which a switch forwards; kNoChannel where there is none.
  ChannelId out(SwitchId s) const { return out_[s]; }

 private:
  void walk(std::span<const PortNumber> column, HostId to, SwitchId from);
  void close_loop(SwitchId again);

  const Fabric* fabric_;
  std::vector<std::uint8_t> seen_;
  std::vector<TraceEnd> end_;
  std::vector<SwitchId> last_;
  std::vector<std::uint32_t> hops_;
  std::vector<ChannelId> out_;
  std::vector<SwitchId> order_;
  std::vector<SwitchId> path_;
};

/// The port of every switch for a run of addresses, one row per address.
///
/// Tables lie switch by switch, so reading one address alone would fetch a cache line per switch;
/// a block of 32 addresses uses the whole line.
class TableColumns {
 public:
  static constexpr std::size_t kBlock = 32;

  explicit TableColumns(const TableView& tables)
      : tables_(tables), ports_(kBlock * tables.switches) {}

  /// Gathers at most kBlock columns.
  void gather(std::span<const Destination> block);
  std::span<const PortNumber> column(std::size_t i) const {
    return {ports_.data() + i * tables_.switches, tables_.switches};
  }

 private:
  TableView tables_;
  std::vector<PortNumber> ports_;
};

/// Grows the tree of every destination and calls visit(worker, destination, tree). Each worker
/// takes one contiguous run of the destinations, in order, so that what workers gather can be
/// joined in worker order to the same whole whatever their number.
template <class Visit>
void for_each_in_tree(const Fabric& fabric, const TableView& tables,
                      std::span<const Destination> all, std::span<const SwitchId> sources,
                      std::size_t workers, Visit&& visit) {
  // Memory is asked for here: an exception must not leave a parallel region.
  std::vector<InTree> trees(workers, InTree(fabric));
  std::vector<TableColumns> columns(workers, TableColumns(tables));
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(workers))
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const std::size_t stop = all.size() * (worker + 1) / workers;
    for (std::size_t at = all.size() * worker / workers; at < stop;) {
      const auto block = all.subspan(at, std::min(TableColumns::kBlock, stop - at));
      columns[worker].gather(block);
      for (std::size_t i = 0; i < block.size(); ++i) {
        trees[worker].grow(columns[worker].column(i), block[i].host, sources);
        visit(worker, block[i], trees[worker]);
      }
      at += block.size();
    }
  }
}

}  // namespace contend
