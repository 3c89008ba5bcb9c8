#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
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
             std::span<const double> injection) {
    std::vector<Group> of_place;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place place = places_[i];
      of_place.push_back(
          {trees.leaf(place), sent[place], injection.empty() ? 0 : injection[place]});
    }
    groups_ = of_place;
    std::ranges::sort(groups_, std::less<>());
    const auto same = [](const Group& a, const Group& b) { return !(a < b) && !(b < a); };
    groups_.erase(std::unique(groups_.begin(), groups_.end(), same), groups_.end());
    leaves_.clear();
    for (const Group& group : groups_) {
      if (leaves_.empty() || leaves_.back() != group.leaf) leaves_.push_back(group.leaf);
    }
    group_of_.clear();
    std::vector<std::pair<std::uint32_t, FromGroup>> members;  // with their block
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto at = std::lower_bound(groups_.begin(), groups_.end(), of_place[i]);
      group_of_.push_back(static_cast<std::uint32_t>(at - groups_.begin()));
      at->ranks += of_place_[i];
      for (const InBlock& in : blocks_of(i)) {
        members.push_back({in.block, {group_of_.back(), in.ranks}});
      }
    }
    std::ranges::sort(members, [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second.group) < std::tie(b.first, b.second.group);
    });
    first_of_block_.assign(block_ranks_.size() + 1, 0);
    of_block_.clear();
    std::uint32_t last = 0;
    for (const auto& [block, from] : members) {
      const bool again =
          !of_block_.empty() && last == block && of_block_.back().group == from.group;
      last = block;
      if (again) {
        of_block_.back().messages += from.messages;
      } else {
        of_block_.push_back(from);
      }
      first_of_block_[block + 1] = of_block_.size();
    }
  }

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

  void seat(std::vector<Seat> seats, const RouteTrees& trees) {
    ranks_ = seats.size();
    // Blocks numbered without gaps, in their order, which is theirs on a rank's number.
    std::uint32_t number = 0;
    for (std::size_t i = 0, next = 0; i < seats.size(); i = next) {
      const std::uint32_t block = seats[i].block;
      for (; next < seats.size() && seats[next].block == block; ++next) seats[next].block = number;
      block_ranks_.push_back(next - i);
      ++number;
    }
    std::ranges::sort(seats, [&](const Seat& a, const Seat& b) {
      return std::pair(trees.address(a.place), a.block) <
             std::pair(trees.address(b.place), b.block);
    });
    for (const Seat& seat : seats) {
      if (places_.empty() || places_.back() != seat.place) {
        places_.push_back(seat.place);
        of_place_.push_back(0);
        first_in_block_.push_back(in_block_.size());
      }
      const std::size_t first = first_in_block_[places_.size() - 1];
      if (in_block_.size() == first || in_block_.back().block != seat.block) {
        in_block_.push_back({seat.block, 0});
      }
      ++in_block_.back().ranks;
      ++of_place_.back();
      first_in_block_.back() = in_block_.size();
    }
  }

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
