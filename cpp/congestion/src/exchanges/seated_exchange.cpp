#include "seated_exchange.hpp"

#include <tuple>
#include <utility>

namespace contend {

void SeatedExchange::seat(std::vector<Seat> seats, const RouteTrees& trees) {
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
    return std::pair(trees.address(a.place), a.block) < std::pair(trees.address(b.place), b.block);
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

void SeatedExchange::group(const RouteTrees& trees, std::span<const std::uint64_t> sent,
                           std::span<const double> injection) {
  std::vector<Group> of_place;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place place = places_[i];
    of_place.push_back({trees.leaf(place), sent[place], injection.empty() ? 0 : injection[place]});
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
    const bool again = !of_block_.empty() && last == block && of_block_.back().group == from.group;
    last = block;
    if (again) {
      of_block_.back().messages += from.messages;
    } else {
      of_block_.push_back(from);
    }
    first_of_block_[block + 1] = of_block_.size();
  }
}

}  // namespace contend
