#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ideal_graph.hpp"

namespace contend {

/// What must be carried: at every node of a graph, what messages that already have their rate bring
/// in, and how many messages bring in the rate that is looked for.
struct IdealDemand {
  std::vector<double> fixed;
  std::vector<double> free;
};

/// How far all free messages of a demand can be raised together, and how they split for it.
///
/// A game of two. One splits, at every node, what comes in over the arcs; the other bets on the
/// trunks that are fullest, which sets a price on each. Both play by regret matching+ (Tammelin et
/// al. 2015, "Solving heads-up limit Texas hold'em"), each expecting the other to play as before
/// (Farina, Kroer, Sandholm 2021, "Faster game solving via predictive Blackwell approachability").
/// Their plays, later ones counting for more, average to splits and prices of which neither is
/// worth changing. At any time the averaged splits tell what can be carried, and the averaged
/// prices what no splits can carry.
class IdealSplits {
 public:
  /// `capacity` by trunk. Both are borrowed, and may change before begin().
  IdealSplits(const IdealGraph& graph, const std::vector<double>& capacity)
      : graph_(graph), capacity_(capacity) {}

  /// Begins a round: every node splits evenly, by capacity.
  void begin();

  /// The rate up to which free messages can be raised, nearly; `most` where that is no less.
  /// `least` can be reached for certain.
  /// Cost: one pass over all arcs where even splits do, else some ten to some hundred.
  double raise(const IdealDemand& demand, double least, double most);

  /// After a raise() below `most`: what a unit from every node costs at the prices which prove that
  /// no more can be had. Messages that cost nothing can still be raised.
  std::span<const double> distance() const { return distance_; }

  /// The part of what comes in at a node that goes on over one of the graph's arcs, by the splits
  /// found last.
  double split(std::size_t arc) const { return found_[arc]; }

  /// What flows over every trunk where so much comes in at each node, by the splits found last.
  std::vector<double> carry(std::span<const double> inflow) const;

 private:
  /// Where the bounds are nearer to each other, in parts of the rate, they are taken for one.
  static constexpr double kNear = 0.002;
  static constexpr int kMostPasses = 1500;
  /// A trunk counts for full that is so full beside the fullest.
  static constexpr double kFull = 0.9;
  static constexpr int kBetweenBounds = 10;

  void restart();
  void flow(const IdealDemand& demand, double rate);
  void price();
  void regret();
  /// Later passes count for more: by the square of their number.
  void average(int pass);
  /// The rate that averaged splits carry, and they are kept if that is more than any before.
  double lower(const IdealDemand& demand, double before);
  /// The rate above which averaged prices prove that nothing can be carried.
  double upper(const IdealDemand& demand);
  double carried(const IdealDemand& demand, const std::vector<double>& split);

  const IdealGraph& graph_;
  const std::vector<double>& capacity_;
  std::vector<double> even_;   ///< by arc
  std::vector<double> found_;  ///< by arc: the splits to be told
  // The game, by arc.
  std::vector<double> split_;
  std::vector<double> arc_regret_;
  std::vector<double> arc_sum_;
  std::vector<double> averaged_;
  // By trunk.
  std::vector<double> load_;
  std::vector<double> load_fixed_;
  std::vector<double> price_;
  std::vector<double> price_sum_;
  std::vector<double> trunk_regret_;
  // By node.
  std::vector<double> in_;
  std::vector<double> in_fixed_;
  std::vector<double> distance_;
};

}  // namespace contend
