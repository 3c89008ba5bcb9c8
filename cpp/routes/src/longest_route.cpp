#include <algorithm>
#include <mutex>

#include "columns.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/trace.hpp"
#include "contend/routes/unreachable.hpp"

namespace contend {

namespace {

const char* meaning(TraceEnd end) {
  switch (end) {
    case TraceEnd::no_entry:
      return "has no port for it";
    case TraceEnd::dead_end:
      return "sends it to a port with nothing plugged in";
    case TraceEnd::wrong_host:
      return "delivers it to another host";
    case TraceEnd::loop:
      return "lies on a loop";
    case TraceEnd::delivered:
      break;
  }
  return "delivers it";
}

/// Hops from every switch to one address, found once per switch: a walk stops where an earlier one
/// has been.
class Depths {
 public:
  Depths(const Fabric& fabric, const TableView& tables)
      : fabric_(fabric),
        tables_(tables),
        depth_(fabric.switches(), 0),
        mark_(fabric.switches(), 0) {}

  void start_address() { ++stamp_; }

  /// Number of channels between `from` and the switch of `to`, or -1 when it is not reached.
  int depth(SwitchId from, HostId to, Address address) {
    path_.clear();
    SwitchId at = from;
    int known = -1;
    while (path_.size() <= fabric_.switches()) {
      if (mark_[at] == stamp_) {
        known = depth_[at];
        break;
      }
      path_.push_back(at);
      const ChannelId channel = fabric_.out(at, tables_.at(at, address));
      if (channel == kNoChannel) break;
      if (!fabric_.is_switch_channel(channel)) {
        if (fabric_.is_ejection(channel) && fabric_.ejected_host(channel) == to) {
          depth_[at] = 0;
          mark_[at] = stamp_;
          path_.pop_back();
          known = 0;
        }
        break;
      }
      at = fabric_.channel_to(channel);
    }
    if (known < 0) return -1;
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      depth_[*it] = ++known;
      mark_[*it] = stamp_;
    }
    return known;
  }

 private:
  const Fabric& fabric_;
  const TableView& tables_;
  std::vector<int> depth_;
  std::vector<std::uint32_t> mark_;
  std::vector<SwitchId> path_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

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
  int longest = 0;
  // The first failing column is reported, whichever thread finds one first.
  std::size_t failed = columns.columns();
  std::mutex found;
  in_parallel(thread_count(), columns.columns(), 64, [&](const Pieces& pieces) {
    Depths depths(fabric, tables);
    int most = 0;
    std::size_t first = columns.columns();
    for (const std::size_t column : pieces) {
      const HostId to = columns.host(column);
      depths.start_address();
      for (const SwitchId leaf : columns.leaves()) {
        const int depth = depths.depth(leaf, to, columns.address(column));
        if (depth < 0) first = std::min(first, column);
        most = std::max(most, depth);
      }
    }
    const std::lock_guard lock(found);
    longest = std::max(longest, most);
    failed = std::min(failed, first);
  });
  if (failed == columns.columns()) return static_cast<std::size_t>(longest);
  std::vector<ChannelId> route;
  for (const SwitchId leaf : columns.leaves()) {
    const Trace walked =
        trace(fabric, tables, leaf, columns.host(failed), columns.address(failed), route);
    if (walked.end != TraceEnd::delivered) {
      throw UnreachableError(columns.host(failed), columns.address(failed), leaf, walked.last,
                             meaning(walked.end));
    }
  }
  return static_cast<std::size_t>(longest);
}

}  // namespace contend
