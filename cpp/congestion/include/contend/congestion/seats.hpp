#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

/// What ranks send each other, phase by phase: messages of a phase are under way together, phases
/// come one after the other. Borrowed; a column for each property of a message.
struct PhasedTraffic {
  std::size_t ranks = 0;
  std::size_t phases = 0;
  std::span<const std::uint32_t> phase;
  std::span<const std::uint32_t> source;
  std::span<const std::uint32_t> target;
  std::span<const double> bytes;  ///< whole numbers, so that loads are exact
};

/// What seats are worth; less is better, the first figure counts most.
struct SeatFigures {
  /// Sum over phases of the time that the most loaded channel takes, host channels included.
  double seconds = 0;
  /// Mean over bytes between different places of pi, the largest number of messages of the phase
  /// on a channel of the route; 1 where nothing leaves its place.
  double mean_congestion = 1;
  /// Sum over messages of bytes times channels crossed, host channels included.
  double hop_bytes = 0;

  /// Whether these are better than others, by more than rounding.
  bool better_than(const SeatFigures& other) const;
};

/// What a search for seats goes by, borrowed.
struct SeatSearch {
  /// By channel: between switches, then injection and ejection by place.
  std::span<const double> seconds_per_byte;
  /// How many ranks a place may hold, by place. Places of near numbers are near each other.
  std::span<const std::uint32_t> seats;
  std::uint64_t seed = 1;
  /// How many times a channel's load may be changed on trial: what bounds the time, not a clock.
  std::uint64_t effort = 0;
  /// So many neighbouring ranks, and places, are a server: its ranks move together, and each keeps
  /// its number within the server.
  std::size_t together = 1;
};

/// Judges which rank sits at which place.
/// Throws Error when sizes do not fit or a rank or place does not exist. Cost: the messages'
/// routes.
SeatFigures judge_seats(const Resolver& resolver, const PhasedTraffic& traffic,
                        std::span<const double> seconds_per_byte, std::span<const Place> seats);

/// Places for all ranks; of all that was tried the best by SeatFigures, never worse than any start.
/// No more places are used than the first start uses, and none holds more ranks than it has seats.
///
/// Every start is improved by exchanges; so is, where ranks move alone, a start of its own, which
/// halves the traffic and the places of the best start again and again (dual recursive
/// bipartitioning: Pellegrini and Roman, Scotch, HPCN 1996, section 2). The best is then annealed
/// (Kirkpatrick et al., Science 220, 1983). An exchange is of two ranks, of a rank and a free seat,
/// or of all that two places hold. What descends is the sum over phases of the p-norm of the
/// channels' times, p = 8 and then 32: close to the longest of them, but it falls whenever any
/// loaded channel is relieved.
///
/// Deterministic, on one core. Cost: effort; memory: eight bytes for each phase and channel.
/// Throws Error as judge_seats does, or when a start does not fit the seats, or takes servers
/// apart.
std::vector<Place> seat_ranks(const Resolver& resolver, const PhasedTraffic& traffic,
                              const SeatSearch& search,
                              const std::vector<std::vector<Place>>& starts);

}  // namespace contend
