#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "valiant_traffic.hpp"

namespace contend {

/// Which part of every message goes around where packets choose by queues and hops.
///
/// A queue grows as the 31st power of a channel's load, in messages: hardly any below one, steep
/// above. A hop costs one more. Packets choose so that no pair of leaves gains by sending more of
/// them straight or around, an equilibrium of Wardrop; it is where the sum over channels of load
/// plus load^32 / 32 is least, which is convex. With so steep queues the fullest channel is within
/// a few percent of the least that any such split leaves it.
class UgalSplit {
 public:
  /// `messages` by target's leaf and source's; `seconds` by channel, by which loads count.
  UgalSplit(const ValiantTraffic& traffic, std::span<const std::uint32_t> messages,
            std::span<const double> seconds);

  /// Finds the equilibrium: what packets could gain is less than a 200th of what all of them meet.
  /// Steps of Newton's method by pairs, each with a search along the line; less steep queues first.
  void settle();
  /// The part of the messages of a pair that goes around.
  double around(std::size_t pair) const { return around_[pair]; }

 private:
  bool step(int power, double gain);
  double length_of(std::span<const double> change, int power) const;

  const ValiantTraffic& traffic_;
  std::span<const std::uint32_t> messages_;
  std::span<const double> seconds_;
  std::vector<double> around_;
  std::vector<double> load_;  ///< times seconds
  std::vector<double> queue_, straight_cost_, around_cost_, steepness_, change_;
  std::vector<double> more_straight_, more_around_;
};

}  // namespace contend
