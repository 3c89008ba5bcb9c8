#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/split/ways.hpp"
#include "ideal_graph.hpp"
#include "ideal_splits.hpp"

namespace contend {

/// Messages of a round, each pair of places once.
struct PairsOfPlaces {
  std::vector<Place> source;
  std::vector<Place> target;
  std::vector<std::uint32_t> messages;

  std::size_t size() const { return source.size(); }
};

/// A message as one number, the source before the target.
inline std::uint64_t key_of_pair(Place source, Place target) {
  return std::uint64_t{source} << 32 | target;
}

/// Every pair among messages once, in the order of their numbers, which `sent` then has sorted.
PairsOfPlaces distinct_pairs(std::vector<std::uint64_t>& sent);

/// What messages get that ideal adaptive switches carry: rates that are max-min fair, where each
/// message may split over its ways as is best for all.
///
/// They are raised together. Where the ports of hosts stop some of them, or the network, these keep
/// what they have, and the others are raised on. Rates are within some thousandths of exact ones in
/// the mean, single ones within some hundredths.
/// Cost: up to some hundred passes over the ways of all messages, for each level at which some are
/// stopped.
class IdealRates {
 public:
  /// Of a resolver with ideal ways. `rate` by channel as in ChannelRates, empty where all carry the
  /// same.
  IdealRates(const Resolver& resolver, std::span<const double> rate);
  // The splits look at the graph beside them.
  IdealRates(const IdealRates&) = delete;
  IdealRates& operator=(const IdealRates&) = delete;

  void solve(const PairsOfPlaces& pairs);

  /// What every message of a pair gets, in bytes per second where channels have rates, else as part
  /// of what a channel carries.
  std::span<const double> rates() const { return rate_; }
  /// By how much all together may get more than was found, as a factor; 1 where what was found is
  /// near enough.
  double gap() const { return gap_; }
  /// How often it would fit what the slower of the two ports carries: 1 / share.
  double slowdown(const PairsOfPlaces& pairs, std::size_t pair) const;
  /// Messages on every channel between switches; those that stay on a leaf cross none.
  std::span<const double> load() const { return load_; }

  /// The channels between switches that messages of a pair cross, with the part of each there.
  /// Cost: the ways to its class.
  std::vector<PartOnChannel> parts_of(std::size_t pair) const;
  /// The part of messages of every pair that crosses a channel between switches.
  /// Cost: one pass over the ways of all messages.
  std::vector<double> parts_across(ChannelId channel) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  /// Messages are stopped that prices prove to rise no more than by so little of their rate, or
  /// that cost nearly what the dearest do: averaged prices are never quite 0. The others are raised
  /// on, and who is stopped after all is so next time.
  static constexpr double kRisesLittle = 0.005;
  static constexpr double kCostsLittle = 0.3;
  /// Bounds of a rate that are wider apart are told.
  static constexpr double kWide = 1.02;
  /// What is left of a channel or port that is full, in parts of what it carries.
  static constexpr double kFull = 0.001;

  struct Port {
    double capacity;
    double taken = 0;
    double free = 0;  ///< messages that are raised

    double level() const { return (capacity - taken) / free; }
  };

  std::span<const double> between() const {
    return std::span(rate_of_).first(rate_of_.size() - 2 * places_);
  }
  /// What injection, then ejection, of every place carries.
  std::span<const double> ports() const { return std::span(rate_of_).last(2 * places_); }
  void build_graph(const PairsOfPlaces& pairs);
  void begin_ports(const PairsOfPlaces& pairs);
  double least_port(const PairsOfPlaces& pairs) const;
  /// Whether any that is raised crosses the network.
  bool take_demand(const PairsOfPlaces& pairs);
  void stop(const PairsOfPlaces& pairs, std::size_t pair, double rate);
  void stop_at_ports(const PairsOfPlaces& pairs, double rate);
  /// What those may get more, together, whose bounds are wide apart.
  double stop_in_network(const PairsOfPlaces& pairs, double rate);
  /// Raises all that nothing stops by the splits found last: where bounds are wide apart, messages
  /// were stopped early.
  void raise_on(const PairsOfPlaces& pairs);
  /// What all messages get together.
  double all(const PairsOfPlaces& pairs) const;
  void count_load(const PairsOfPlaces& pairs);

  const IdealWays& ways_;
  std::size_t places_;
  std::vector<double> rate_of_;  ///< by channel, as they were given
  IdealTrunks trunks_;
  IdealGraph graph_;
  IdealSplits splits_;
  std::vector<std::uint32_t> node_;  ///< by pair, of the source's leaf; none on the same leaf
  std::vector<std::uint32_t> end_;   ///< by pair, behind the last node of its class
  std::vector<Port> port_;
  std::vector<std::uint32_t> free_;  ///< pairs that are raised
  IdealDemand demand_;
  std::vector<double> rate_;
  std::vector<double> load_;
  double gap_ = 1;
};

}  // namespace contend
