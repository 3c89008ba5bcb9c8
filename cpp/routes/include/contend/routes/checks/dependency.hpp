#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/tables.hpp"

namespace contend {

/// Which channels wait for which: channel b follows channel a when some route enters a switch by a
/// and leaves it by b. A lossless network whose channels wait for each other in a circle can lock
/// up (Dally and Seitz 1987).
///
/// Memory: one bit per channel between switches and port of the switch that it leads to.
class ChannelDependencies {
 public:
  explicit ChannelDependencies(const Fabric& fabric);

  /// Notes that `channel` is followed by what leaves its end by `port`; safe from many threads.
  void add(ChannelId channel, PortNumber port);
  bool has(ChannelId channel, PortNumber port) const;
  /// Number of pairs noted.
  std::uint64_t count() const;

  /// Channels that wait for each other in a circle, from its lowest channel on; empty when there
  /// are none. Of the circles through the first channel that the search finds on one, a shortest.
  /// Cost: linear in channels and ports.
  std::vector<ChannelId> cycle() const;

 private:
  std::size_t bit(ChannelId channel, PortNumber port) const { return begin_[channel] + port; }
  /// The next channel after `port` that follows `channel`; moves `port` on.
  ChannelId next(ChannelId channel, PortNumber& port) const;
  ChannelId on_some_cycle() const;
  std::vector<ChannelId> shortest_cycle(ChannelId through) const;

  const Fabric* fabric_;
  std::vector<std::size_t> begin_;  ///< first bit of a channel
  std::vector<std::uint64_t> bits_;
};

/// A virtual lane, and which one the routes to every address keep to. Without addresses all are
/// on lane 0.
struct Lane {
  std::uint8_t number = 0;
  std::span<const std::uint8_t> of_address;

  bool has(Address address) const {
    return number == (address < of_address.size() ? of_address[address] : 0);
  }
};

/// The dependencies of the routes on a lane from all hosts (or from all switches, as management
/// traffic has it) to all addresses of hosts. Only routes that are delivered count.
/// Cost: addresses x switches.
ChannelDependencies channel_dependencies(const Fabric& fabric, const TableView& tables,
                                         const AddressView& addresses, bool from_all_switches,
                                         const Lane& lane = {});

}  // namespace contend
