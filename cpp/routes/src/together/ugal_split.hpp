#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
///
/// Memory: kBytesOfPair for every pair of leaves.
class UgalSplit {
 public:
  static constexpr std::size_t kBytesOfPair = 4 * sizeof(double);

  /// `messages` by target's leaf and source's; `seconds` by channel, by which loads count.
  UgalSplit(const ValiantTraffic& traffic, std::span<const std::uint32_t> messages,
            std::span<const double> seconds);

  /// Finds the equilibrium: what packets could gain is less than a 200th of what all of them meet.
  /// Steps of Newton's method by pairs, each with a search along the line; less steep queues first.
  void settle();
  /// The part of the messages of every pair that goes around.
  std::vector<double> take_around() { return std::move(around_); }

 private:
  bool step(int power, double gain);
  double length_of(std::span<const double> change, int power) const;

  const ValiantTraffic& traffic_;
  std::span<const std::uint32_t> messages_;
  std::span<const double> seconds_;
  std::vector<double> around_;
  std::vector<double> load_;  ///< times seconds
  std::vector<double> queue_, change_;
  // By pair: what packets meet that go straight or around, then how many more of them do.
  std::vector<double> straight_, detour_;
  std::vector<double> steepness_;
};

}  // namespace contend
