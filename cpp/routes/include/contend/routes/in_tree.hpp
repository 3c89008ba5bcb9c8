#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/base/threads.hpp"
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

/// By which channel every switch forwards, and to which switch that leads, for a block of
/// addresses; one row per address.
///
/// Tables and ports lie switch by switch, so reading one address alone would fetch several cache
/// lines per switch. A block of 32 addresses uses whole lines, and what a walk then reads of one
/// address lies together. Cost: one table entry per address and switch.
class ForwardingBlock {
 public:
  static constexpr std::size_t kBlock = 32;
  /// Instead of a switch: the walk ends here, and how.
  static constexpr SwitchId kNoEntry = kNoSwitch;
  static constexpr SwitchId kDeadEnd = kNoSwitch - 1;
  static constexpr SwitchId kHost = kNoSwitch - 2;

  ForwardingBlock(const Fabric& fabric, const TableView& tables)
      : fabric_(&fabric),
        tables_(tables),
        stride_(16 * ((fabric.switches() / 16 + 1) | 1U)),
        channel_(kBlock * stride_),
        next_(kBlock * stride_) {}

  /// Looks up at most kBlock addresses.
  void look_up(std::span<const Destination> block);
  /// The channel by which every switch forwards the block's address i; kNoChannel if by none.
  std::span<const ChannelId> channel(std::size_t i) const { return row(channel_, i); }
  /// Where that channel leads: a switch or one of the constants above.
  std::span<const SwitchId> next(std::size_t i) const { return row(next_, i); }

 private:
  template <class T>
  std::span<const T> row(const std::vector<T>& values, std::size_t i) const {
    return {values.data() + i * stride_, fabric_->switches()};
  }

  const Fabric* fabric_;
  TableView tables_;
  std::size_t stride_;  ///< an odd number of cache lines: rows must not share their cache sets
  std::vector<ChannelId> channel_;
  std::vector<SwitchId> next_;
};

/// All routes from some switches to one address. A table has one port per address, so they form a
/// tree that grows from the destination (and, in faulty tables, from the places where routes end).
///
/// Every switch on any of the routes is resolved once, however many routes pass it. Cost: one
/// step per switch on the routes. Memory: a few words per switch, reused.
class InTree {
 public:
  explicit InTree(const Fabric& fabric);

  /// Walks to address i of a block from every source; `to` is the host that has the address.
  void grow(const ForwardingBlock& next, std::size_t i, HostId to,
            std::span<const SwitchId> sources);

  /// The switches on the routes, each after the switch it forwards to (loops aside).
  std::span<const SwitchId> order() const { return order_; }
  /// How routes end that pass a switch of `order`.
  TraceEnd end(SwitchId s) const { return state_[s].end; }
  /// Where they end; of a loop, its switch with the lowest number.
  SwitchId last(SwitchId s) const { return state_[s].last; }
  /// Channels between switches from here to the destination; only of delivered routes.
  std::uint32_t hops(SwitchId s) const { return state_[s].hops; }
  /// The channel by which a switch forwards; kNoChannel where there is none.
  ChannelId out(SwitchId s) const { return channel_[s]; }
  /// The switch that it leads to, where it leads to one.
  SwitchId next(SwitchId s) const { return next_[s]; }

 private:
  enum class Seen : std::uint8_t { no, on_path, resolved };
  struct State {
    SwitchId last;
    std::uint32_t hops;
    TraceEnd end;
    Seen seen;
  };

  void walk(HostId to, SwitchId from);
  TraceEnd ended(SwitchId at, HostId to) const;
  void close_loop(SwitchId again);

  const Fabric* fabric_;
  std::span<const ChannelId> channel_;
  std::span<const SwitchId> next_;
  std::vector<State> state_;
  std::vector<SwitchId> order_;
  std::vector<SwitchId> path_;
};

/// Grows the tree of every destination and calls visit(worker, destination, tree). Each worker
/// takes one contiguous run of the destinations, in order, so that what workers gather can be
/// joined in worker order to the same whole whatever their number.
template <class Visit>
void for_each_in_tree(const Fabric& fabric, const TableView& tables,
                      std::span<const Destination> all, std::span<const SwitchId> sources,
                      std::size_t workers, Visit&& visit) {
  in_parallel(static_cast<int>(workers), workers, 1, [&](const Pieces& pieces) {
    InTree tree(fabric);
    ForwardingBlock next(fabric, tables);
    for (const std::size_t worker : pieces) {
      const std::size_t stop = all.size() * (worker + 1) / workers;
      for (std::size_t at = all.size() * worker / workers; at < stop;) {
        const auto block = all.subspan(at, std::min(ForwardingBlock::kBlock, stop - at));
        next.look_up(block);
        for (std::size_t i = 0; i < block.size(); ++i) {
          check_interruption();
          tree.grow(next, i, block[i].host, sources);
          visit(worker, block[i], tree);
        }
        at += block.size();
      }
    }
  });
}

}  // namespace contend
