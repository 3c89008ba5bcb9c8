#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contend/pattern/pattern.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Who sits where: rank r on place slots[r / ranks_per_slot]; when `random`, the slots are shuffled
/// anew for every sample. A place may have several slots.
struct Seating {
  std::vector<Place> slots;
  std::uint32_t ranks_per_slot = 1;
  bool random = false;
};

/// Which samples to run. Sample k of a seed is the same in every batch and on any thread; an
/// enumeration takes k as the number of an outcome instead.
struct Samples {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  bool enumerate = false;
};

/// Which drawing of routes a sample takes where they are drawn; see Resolver::resolve_drawn.
inline constexpr std::uint64_t routes_draw(std::uint64_t seed, std::uint64_t sample) {
  return seed * 0x9E3779B97F4A7C15u + sample;
}

inline constexpr double kMeanUnit = 1.0 / (1 << 20);

/// Bins of a histogram by pi for every message more: as many as a message has parts, at most 20.
inline constexpr std::uint32_t bins_of_message(std::uint32_t unit) { return unit < 20 ? unit : 20; }

/// What a batch of samples yields. pi of a message is the largest number of messages on any channel
/// of its route; channels of hosts count when the pattern or the seating shares them.
struct BatchResult {
  /// Per sample: means over the rounds that have messages, of the round's (weighted) mean of 1/pi,
  /// its mean of pi, and its largest pi. A sample without any network message has 1, 1, 1.
  std::vector<double> bandwidth;
  std::vector<double> mean_congestion;
  std::vector<double> max_congestion;
  /// Likewise the most messages that any channel of a host carries: what `max_congestion` would be
  /// if nothing but the ports of hosts were shared.
  std::vector<double> port_congestion;
  /// Where channels differ in rate, per sample, else empty: the same means of what messages get,
  /// the least, over a message's channels, of rate over load. `share` is of the slower of its two
  /// hosts' ports; slowdown is 1 / share; a sample without any network message has 1, 1, 1 and what
  /// the fastest port carries.
  std::vector<double> share;
  std::vector<double> mean_slowdown;
  std::vector<double> max_slowdown;
  std::vector<double> bytes_per_second;
  std::vector<double> mean_seconds_per_byte;
  std::vector<double> max_seconds_per_byte;
  std::vector<double> port_seconds_per_byte;  ///< as port_congestion
  /// Where rounds consist of pairs, see Pattern::paired(), per sample, else empty: means over the
  /// rounds that have messages, of the mean over pairs of what the slower of their two directions
  /// gets: 1/pi; where channels differ in rate `share`, and beside it `bytes_per_second`.
  std::vector<double> pair_bandwidth;
  std::vector<double> pair_bytes_per_second;
  /// Per round: sums over the samples in which it has messages of its mean pi, in units of
  /// kMeanUnit, and of its largest pi in parts of a message, see Resolver::unit(), and the number
  /// of those samples. A sample without any network message adds 1 in every round. Whole numbers,
  /// so that the sum is the same however the samples were shared out.
  std::vector<std::uint64_t> round_mean_congestion;
  std::vector<std::uint64_t> round_max_congestion;
  std::vector<std::uint64_t> round_samples;
  /// Per round, where channels differ in rate, else empty: sums over the same samples of what the
  /// slowest message takes, in units of kMeanUnit of what it would through the fastest port.
  std::vector<std::uint64_t> round_max_time;
  /// (Weighted) number of messages by pi, bins_of_message() entries for every message more; entry 0
  /// holds those that stay on their host.
  std::vector<std::uint64_t> histogram;
  /// Parts of messages that crossed each channel, over all rounds and samples: channels between
  /// switches, then injection and ejection by place (zeros when host channels are not counted).
  std::vector<std::uint64_t> channel_messages;
  /// By how much messages that split as is best for all may get more than was found, as a factor:
  /// the most of any round, 1 where all were found nearly.
  double gap = 1;
  /// Core seconds spent on drawing placements and patterns, and on counting.
  double drawing_seconds = 0;
  double counting_seconds = 0;
};

/// Runs a batch on `threads` threads (0: as many as there are; four a core at most). `rate`: bytes
/// per second of every channel, between switches, then injection and ejection by place; empty where
/// all carry the same. Throws Error when pattern, places and rates do not fit together, or when an
/// enumeration asks for an outcome that does not exist.
///
/// Cost per message: one draw, one route lookup, one increment and one load per channel; with rates
/// two more loads and a multiplication per channel.
BatchResult simulate(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                     const Samples& samples, int threads, std::span<const double> rate = {});

/// What the slowest message of every round meets, where nothing is drawn.
struct SlowestRounds {
  std::vector<std::uint64_t> congestion;  ///< its pi; 0 in rounds without messages
  std::vector<std::uint64_t> time;        ///< as BatchResult::round_max_time has it
};

/// The same as simulate() finds, without a look at each message once its round is counted.
/// Throws Error as it does, and where rounds are drawn or messages split.
///
/// Cost per message: one route lookup, and one increment per channel; per round, one look at all
/// channels.
SlowestRounds slowest_rounds(const Resolver& resolver, const Pattern& pattern,
                             const Seating& seating, int threads,
                             std::span<const double> rate = {});

/// Shuffles slots as sample `sample` of a seed does when the seating is random.
void shuffle_slots(std::span<Place> slots, std::uint64_t seed, std::uint64_t sample);

/// Number of equally likely outcomes of pattern and placement together, when it is below 2^63.
std::optional<std::uint64_t> outcomes(const Pattern& pattern, const Seating& seating);

/// How many messages each sample has that do not stay on their host, over all rounds.
/// Throws Error as simulate() does. Cost: drawing them.
std::vector<std::uint64_t> message_counts(const Pattern& pattern, const Seating& seating,
                                          const Samples& samples);

}  // namespace contend
