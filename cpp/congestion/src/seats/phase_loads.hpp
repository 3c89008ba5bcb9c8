#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "message_parts.hpp"
#include "rank_messages.hpp"

namespace contend {

/// A rank that leaves its place for another.
struct RankMove {
  std::uint32_t rank;
  Place to;
};

/// The load of every channel in every phase while ranks change places, and what it comes to: the
/// sum over phases of the p-norm of the times that channels take.
class PhaseLoads {
 public:
  PhaseLoads(const Resolver& resolver, const RankMessages& messages,
             std::span<const double> seconds_per_byte, std::span<const Place> places);

  std::span<const Place> places() const { return place_; }
  /// The sum of the norms, in units of what the fullest channel of all phases took at first.
  double norm() const { return norm_; }
  /// Loads of channels that were changed so far.
  std::uint64_t changes() const { return changes_; }

  /// Sets p = 2^squarings and counts everything anew, which also ends the drift of rounding.
  void set_power(unsigned squarings);
  /// Moves ranks and returns by how much the norm grows. What was moved before stays.
  /// Cost: the messages of these ranks times the channels of their old and new routes.
  double move(std::span<const RankMove> moves);
  /// Takes the last move back.
  void undo();
  /// Appends ranks with messages over channels that take at least `share` of their phase's longest
  /// time. Cost: all messages' routes.
  void ranks_on_full_channels(double share, std::vector<std::uint32_t>& ranks) const;

 private:
  struct Change {
    std::size_t at;
    double before;
  };
  struct Flow {
    std::uint32_t phase;
    double bytes;  ///< below 0 where the route is left
  };

  void list_flows(const RankMove& moved);
  void add_flow(Place source, Place target, const Flow& flow);
  void carry_flows();
  void change(std::uint32_t phase, std::size_t channel, double bytes);
  double raised(double time) const;
  double root(double sum) const;

  const Resolver& resolver_;
  const RankMessages& messages_;
  std::size_t channels_;
  unsigned squarings_ = 3;
  std::vector<double> time_per_byte_;
  std::vector<Place> place_;
  std::vector<Place> after_;  ///< places as they shall be while moves are counted
  std::vector<bool> moving_;
  std::vector<double> load_;  ///< bytes by phase and channel
  std::vector<double> sum_;   ///< by phase: of times raised to p
  std::vector<double> phase_norm_;
  double norm_ = 0;
  std::uint64_t changes_ = 0;

  // Of the last move.
  std::vector<Change> changed_;
  std::vector<std::uint32_t> touched_;  ///< phases
  std::vector<bool> is_touched_;
  std::vector<double> sum_before_;
  std::vector<double> phase_norm_before_;
  std::vector<RankMove> way_back_;
  double norm_before_ = 0;
  std::vector<Place> from_, to_;
  std::vector<Flow> flow_;
  MessageParts parts_;
};

}  // namespace contend
