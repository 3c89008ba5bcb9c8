#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/base/threads.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/checks/trace.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// Where routes lead: a host and one of its addresses.
struct Destination {
  Address address;
  HostId host;
};

/// Every address of every host, by address; hosts without one are left out.
/// Throws Error when the columns do not belong to the fabric or an LMC exceeds 7.
std::vector<Destination> destinations(const Fabric& fabric, const AddressView& addresses);

/// Where switches forward a block of addresses; one row per address.
///
/// Tables and ports lie switch by switch, so reading one address alone would fetch several cache
/// lines per switch. A block of 32 addresses uses whole lines, and what a walk then reads of one
/// address lies together. Cost: one table entry per address and switch where routes begin, or that
/// is asked for.
class ForwardingBlock {
 public:
  static constexpr std::size_t kBlock = 32;

  ForwardingBlock(const Fabric& fabric, const TableView& tables)
      : fabric_(&fabric),
        tables_(tables),
        stride_(8 * ((fabric.switches() / 8 + 1) | 1U)),
        steps_(kBlock * stride_),
        is_source_(fabric.switches(), 0) {}

  /// The switches at which routes begin: all of them are looked up for every block.
  void begin_at(std::span<const SwitchId> sources);
  /// Looks up at most kBlock addresses, ascending. They stay where they are until the next ones.
  void look_up(std::span<const Destination> block);
  /// Where a switch leads on towards the block's address i.
  Onward next(std::size_t i, SwitchId s) {
    Step& step = steps_[i * stride_ + s];
    if (is_source_[s] == 0) step = by_tables(s, block_[i]);
    return step.onward;
  }
  /// The step towards the block's address i from every switch of which next() was asked.
  std::span<const Step> steps(std::size_t i) const {
    return {steps_.data() + i * stride_, fabric_->switches()};
  }

 private:
  static constexpr std::size_t kNear = 8 * kBlock;

  Step by_tables(SwitchId s, const Destination& to) const {
    const PortNumber port = now_.at(s, static_cast<Address>(to.address - now_begin_));
    if (!first_port_.empty() && port < first_port_[s + 1] - first_port_[s]) {
      const Step& step = by_port_[first_port_[s] + port];
      if (!step.onward.ends()) return step;
    }
    return Step::by(*fabric_, s, port, to.host);
  }
  void choose_tables();
  void copy_near(std::size_t first);
  void list_ports();

  const Fabric* fabric_;
  TableView tables_;
  std::size_t stride_;  ///< an odd number of cache lines: rows must not share their cache sets
  std::vector<Step> steps_;
  std::vector<SwitchId> sources_;
  std::vector<std::uint8_t> is_source_;  ///< by switch
  std::span<const Destination> block_;
  /// What each port of every switch leads to, and where those of a switch begin; without hosts.
  std::vector<Step> by_port_;
  std::vector<std::size_t> first_port_;
  /// Ports of every switch for the addresses from near_begin_ to near_end_.
  std::vector<PortNumber> near_;
  std::size_t near_begin_ = 0;
  std::size_t near_end_ = 0;
  std::size_t follows_ = 0;  ///< the address behind the last block
  TableView now_{};          ///< that are read
  std::size_t now_begin_ = 0;
};

/// The routes to one target. A table has one port per address, so they form a tree that grows from
/// the target (and, in faulty tables, from the places where routes end).
///
/// Every switch on any of the routes is resolved once, however many routes pass it. Cost: one
/// step per switch on the routes. Memory: a few words per switch, reused.
class InTree {
 public:
  explicit InTree(std::size_t switches) : state_(switches), order_(switches) {}

  /// Forgets all routes; what follows is about another target, or other entries.
  void clear() {
    reached_ = 0;
    now_ += kMarks;
    if (now_ != 0) return;
    // Marks run out after 2^29 targets and begin anew.
    state_.assign(state_.size(), {});
    now_ = kMarks;
  }

  /// Follows the route from a switch up to one that was reached before, and says how it ends;
  /// next(s) says where it goes from a switch, as for follow().
  template <class Next>
  TraceEnd reach(SwitchId from, const Next& next) {
    if (state_[from].mark < now_) walk(from, next);
    return end(from);
  }

  /// The switches on the routes, each after the switch it forwards to (loops aside).
  std::span<const SwitchId> order() const { return {order_.data(), reached_}; }
  /// How routes end that pass a switch of `order`.
  TraceEnd end(SwitchId s) const { return static_cast<TraceEnd>(state_[s].mark - now_); }
  /// Where they end if not at the target; of a loop, its switch with the lowest number.
  SwitchId last(SwitchId s) const { return state_[s].value; }
  /// Steps from here to the target; only of delivered routes.
  std::uint32_t hops(SwitchId s) const { return state_[s].value; }

 private:
  static constexpr std::uint32_t kOnPath = kTraceEnds;
  static constexpr std::uint32_t kMarks = 8;

  struct State {
    std::uint32_t value = 0;  ///< hops of delivered routes, where others end
    std::uint32_t mark = 0;   ///< from now_ on: the end, or kOnPath; below: not reached
  };

  template <class Next>
  void walk(SwitchId from, const Next& next) {
    const std::size_t begin = reached_;
    SwitchId at = from;
    std::size_t open = 0;
    for (;;) {
      state_[at].mark = now_ + kOnPath;
      order_[reached_++] = at;
      const Onward onward = next(at);
      if (onward.ends()) {
        const bool arrived = onward.end() == TraceEnd::delivered;
        state_[at] = {arrived ? 0 : at, now_ + static_cast<std::uint32_t>(onward.end())};
        open = reached_ - 1;
        break;
      }
      at = onward.to();
      if (state_[at].mark < now_) continue;
      open = state_[at].mark == now_ + kOnPath ? close_loop(at) : reached_;
      break;
    }
    State state = state_[at];
    const std::uint32_t more = state.mark == now_ ? 1 : 0;
    while (open > begin) {
      state.value += more;
      state_[order_[--open]] = state;
    }
    std::reverse(order_.data() + begin, order_.data() + reached_);
  }
  std::size_t close_loop(SwitchId again);

  std::vector<State> state_;
  std::vector<SwitchId> order_;  ///< the first reached_ of them
  std::size_t reached_ = 0;
  std::uint32_t now_ = kMarks;
};

/// Grows the tree of every destination and calls visit(worker, destination, tree, steps), the last
/// being the step from every switch of the tree. Each worker takes one contiguous run of the
/// destinations, in order, so that what workers gather can be joined in worker order to the same
/// whole whatever their number.
template <class Visit>
void for_each_in_tree(const Fabric& fabric, const TableView& tables,
                      std::span<const Destination> all, std::span<const SwitchId> sources,
                      std::size_t workers, Visit&& visit) {
  in_parallel(static_cast<int>(workers), workers, 1, [&](const Pieces& pieces) {
    InTree tree(fabric.switches());
    ForwardingBlock next(fabric, tables);
    next.begin_at(sources);
    for (const std::size_t worker : pieces) {
      const std::size_t stop = all.size() * (worker + 1) / workers;
      std::size_t at = all.size() * worker / workers;
      Progress progress(stop - at);
      while (at < stop) {
        const auto block = all.subspan(at, std::min(ForwardingBlock::kBlock, stop - at));
        next.look_up(block);
        for (std::size_t i = 0; i < block.size(); ++i) {
          check_interruption();
          tree.clear();
          for (const SwitchId s : sources) {
            tree.reach(s, [&](SwitchId from) { return next.next(i, from); });
          }
          visit(worker, block[i], tree, next.steps(i));
        }
        at += block.size();
        progress.done(block.size());
      }
    }
  });
}

}  // namespace contend
