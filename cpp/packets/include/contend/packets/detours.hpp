#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/packets/random.hpp"
#include "contend/routes/split/valiant.hpp"

namespace contend {

/// Draws a way for each packet: around by a stop as ValiantResolver counts, or, where packets
/// adapt, straight if that is better by the queues at the first switch. Channels are numbered as
/// those of PacketRoutes.
///
/// Packets change to the next lane wherever a channel does not rank above the one before. So ranks
/// rise along every lane, packets move on to higher lanes alone, and no channels wait for each
/// other in a circle. With ranks all alike every hop has a lane of its own (K. Guenther, Prevention
/// of deadlocks in packet-switched data transport systems, IEEE Transactions on Communications,
/// 1981); on a dragonfly whose channels between groups rank above the others, packets by way of
/// groups take three, as in J. Kim, W. Dally, S. Scott, D. Abts, ISCA 2008, section 4.1.
class Detours {
 public:
  /// `group` as of make_valiant_resolver(); `rank` of every channel between switches. Borrows the
  /// fabric. Cost: a search of the switches for each stop and switch with hosts. Throws
  /// UnreachableError when no way joins two of the hosts.
  Detours(const Fabric& fabric, const Places& places, std::span<const std::uint32_t> group,
          std::span<const std::uint32_t> rank, bool adapts);

  std::size_t places() const { return at_.size(); }
  std::size_t switch_channels() const { return rank_.size(); }
  /// That packets need.
  std::uint32_t lanes() const { return lanes_; }
  /// The most channels of any way, those of hosts included.
  std::size_t longest() const { return 2 + longest_; }

  /// Writes the channels of a way behind its host's, and returns where they end. Packets that adapt
  /// (UGAL) draw one way straight and one around, and go straight unless queue(channel) times hops
  /// is less around: what waits at the first switch for the first channel, by the channels between
  /// switches of the whole way. (A. Singh, Load-balanced routing in interconnection networks,
  /// Stanford, 2005; UGAL-L of Kim et al., section 4.2.)
  template <class Queue>
  std::uint32_t* draw(Place source, Place target, packets::Random& random, const Queue& queue,
                      std::uint32_t* way) const {
    const SwitchId from = at_[source];
    std::uint32_t* end = way;
    if (from != at_[target]) {
      end = adapts_ ? straight(from, target, random, way) : around(from, target, random, way);
      if (adapts_) {
        // Behind the other one.
        std::uint32_t* const other = way + longest_;
        std::uint32_t* const other_end = around(from, target, random, other);
        const auto met = [&](const std::uint32_t* begin, const std::uint32_t* stop) {
          return queue(*begin) * static_cast<std::uint64_t>(stop - begin);
        };
        if (met(other, other_end) < met(way, end)) end = std::copy(other, other_end, way);
      }
    }
    *end = static_cast<std::uint32_t>(channels_ - at_.size() + target);
    return end + 1;
  }

  /// Channels out of the switch that a channel leads to; and of a channel, which of those out of
  /// its switch it is.
  std::uint32_t ways_on(std::uint32_t channel) const;
  std::uint32_t number_of(std::uint32_t channel) const { return number_[channel]; }

 private:
  std::uint32_t* straight(SwitchId from, Place target, packets::Random& random,
                          std::uint32_t* way) const;
  std::uint32_t* around(SwitchId from, Place target, packets::Random& random,
                        std::uint32_t* way) const;
  std::uint32_t* follow(std::size_t row, SwitchId& at, packets::Random& random,
                        std::uint32_t* way) const;
  void set_lanes(std::uint32_t* begin, const std::uint32_t* end) const;
  void measure();

  const Fabric* fabric_;
  bool adapts_;
  StopWays stops_;
  std::vector<SwitchId> at_;             ///< by place
  std::vector<std::uint32_t> row_to_;    ///< by place: the row of ways to its switch
  std::vector<std::uint32_t> rank_;      ///< by channel between switches
  std::vector<std::uint32_t> number_;    ///< by channel, those of hosts too
  std::vector<std::uint32_t> ways_out_;  ///< by switch: channels that leave it
  std::size_t channels_;
  std::size_t longest_ = 0;
  std::uint32_t lanes_ = 1;
};

}  // namespace contend
