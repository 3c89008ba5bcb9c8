#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "contend/pattern/pattern.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

/// An exchange between places: how many messages each target gets from every group of sources.
class SeatedExchange {
 public:
  /// Sources that share a leaf, the number of messages that each sends, and the rate at which it
  /// can.
  struct Group {
    SwitchId leaf;
    std::uint64_t sent;
    double injection;  ///< seconds a byte; 0 where rates do not matter
    std::uint64_t ranks = 0;

    bool operator<(const Group& other) const {
      if (leaf != other.leaf) return leaf < other.leaf;
      if (sent != other.sent) return sent < other.sent;
      return injection < other.injection;
    }
  };
  /// A number of messages from a group.
  struct FromGroup {
    std::uint32_t group;
    std::uint64_t messages;
  };

  /// `place_of(rank)` says where a rank sits.
  template <class PlaceOf>
  SeatedExchange(const Exchange& exchange, const RouteTrees& trees, const PlaceOf& place_of) {
    std::vector<Seat> seats;
    seats.reserve(exchange.rank.size());
    for (std::size_t i = 0; i < exchange.rank.size(); ++i) {
      seats.push_back({place_of(exchange.rank[i]), exchange.block[i]});
    }
    seat(std::move(seats), trees);
  }

  /// Places with ranks, in the order of their addresses.
  std::span<const Place> places() const { return places_; }
  /// Messages that the i-th of these places sends over the network, and as many it gets.
  std::uint64_t sent(std::size_t i) const {
    std::uint64_t messages = 0;
    for (const InBlock& in : blocks_of(i)) messages += in.ranks * (ranks_ - block_ranks_[in.block]);
    return messages - stayed(i);
  }
  /// Messages between ranks of the i-th place.
  std::uint64_t stayed(std::size_t i) const {
    std::uint64_t messages = of_place_[i] * of_place_[i];
    for (const InBlock& in : blocks_of(i)) messages -= in.ranks * in.ranks;
    return messages;
  }

  /// Groups the sources: `sent` is what every place sends in the whole round, `injection` the
  /// seconds that it takes for a byte, or empty.
  void group(const RouteTrees& trees, std::span<const std::uint64_t> sent,
             std::span<const double> injection);

  /// By leaf, ascending.
  std::span<const Group> groups() const { return groups_; }
  std::span<const SwitchId> leaves() const { return leaves_; }
  /// Ranks on the i-th place: what it gets from every rank, but for what left_out() says.
  std::uint64_t ranks_at(std::size_t i) const { return of_place_[i]; }
  /// Calls visit(FromGroup) for what the i-th place does not get: from ranks of its own blocks, and
  /// over the network from its own.
  template <class Visit>
  void left_out(std::size_t i, const Visit& visit) const {
    for (const InBlock& in : blocks_of(i)) {
      for (std::size_t k = first_of_block_[in.block]; k < first_of_block_[in.block + 1]; ++k) {
        visit(FromGroup{of_block_[k].group, of_block_[k].messages * in.ranks});
      }
    }
    if (const std::uint64_t own = stayed(i); own > 0) visit(FromGroup{group_of_[i], own});
  }

 private:
  struct Seat {
    Place place;
    std::uint32_t block;
  };
  /// Ranks of a place that are in the same block.
  struct InBlock {
    std::uint32_t block;
    std::uint64_t ranks;
  };

  void seat(std::vector<Seat> seats, const RouteTrees& trees);
  std::span<const InBlock> blocks_of(std::size_t i) const {
    return {in_block_.data() + first_in_block_[i], first_in_block_[i + 1] - first_in_block_[i]};
  }

  std::uint64_t ranks_ = 0;
  std::vector<Place> places_;
  std::vector<std::uint64_t> of_place_;
  std::vector<InBlock> in_block_;  ///< by place
  std::vector<std::size_t> first_in_block_{0};
  std::vector<std::uint64_t> block_ranks_;
  std::vector<Group> groups_;
  std::vector<SwitchId> leaves_;
  std::vector<std::uint32_t> group_of_;  ///< by place
  std::vector<FromGroup> of_block_;      ///< by block, the ranks of each group in it
  std::vector<std::size_t> first_of_block_;
};

}  // namespace contend
