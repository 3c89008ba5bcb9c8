#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contend/congestion/crossings.hpp"
#include "contend/schedule/carry_out.hpp"
#include "contend/schedule/schedule.hpp"

namespace contend {

/// What leads from rank to rank: a road for each two that send each other anything, on which one
/// message is under way at a time and the others stand in line, and the route below it.
class Roads {
 public:
  Roads(const Schedule& schedule, const Network& network, std::span<const Match> matches);

  const Crossings& crossings() const { return crossings_; }
  /// Route of a message, and that of its answer.
  std::size_t route(std::uint32_t message) const { return route_of_road_[ahead(message)]; }
  std::size_t route_back(std::uint32_t message) const { return route_of_road_[back(message)]; }
  /// Channels between switches on a route.
  double hops(std::size_t route) const {
    return static_cast<double>(std::max<std::size_t>(crossings_.of_message(route).size(), 2) - 2);
  }
  std::uint32_t ahead(std::uint32_t message) const { return ahead_[message]; }
  std::uint32_t back(std::uint32_t message) const { return reverse_[ahead_[message]]; }
  bool within(std::uint32_t message) const { return within_[ahead_[message]] != 0; }
  Place source_place(std::uint32_t message) const { return source_[ahead_[message]]; }

  /// Places an item last in a road's line. Items are 2 * message + 1 for its answer.
  void append(std::uint32_t road, std::uint32_t item);
  bool empty(std::uint32_t road) const { return line_[road].first == kNobody; }
  std::uint32_t pop(std::uint32_t road);
  bool taken(std::uint32_t road) const { return line_[road].taken; }
  void take(std::uint32_t road) { line_[road].taken = true; }
  void leave(std::uint32_t road) { line_[road].taken = false; }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;
  struct Line {
    std::uint32_t first = kNobody;
    std::uint32_t last = kNobody;
    bool taken = false;
  };
  using Pair = std::pair<std::uint32_t, std::uint32_t>;

  static std::vector<Pair> pairs_of(const Schedule& schedule, std::span<const Match> matches);
  static std::vector<Pair> places_of(const Network& network, const std::vector<Pair>& pairs);
  static Crossings cross(const Network& network, const std::vector<Pair>& places);

  std::vector<Pair> pairs_;   ///< ranks of every road, ascending
  std::vector<Pair> places_;  ///< of every route, ascending
  Crossings crossings_;
  std::vector<std::uint32_t> ahead_;  ///< road of a message
  std::vector<std::uint32_t> reverse_;
  std::vector<std::size_t> route_of_road_;
  std::vector<Place> source_;
  std::vector<std::uint8_t> within_;
  std::vector<Line> line_;
  std::vector<std::uint32_t> next_;  ///< item behind an item
};

}  // namespace contend
