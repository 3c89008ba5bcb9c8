#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "central_path.hpp"
#include "ideal_graph.hpp"

namespace contend {

/// How far all free messages of a demand can be raised together, and how they split for it.
///
/// By a central path where its steps are cheap, which ends with a millionth between the bounds; a
/// game of two elsewhere. One splits, at every node, what comes in over the arcs; the other bets on
/// the trunks that are fullest, which sets a price on each. Both play by regret matching+ (Tammelin
/// et al. 2015, "Solving heads-up limit Texas hold'em"), each expecting the other to play as before
/// (Farina, Kroer, Sandholm 2021, "Faster game solving via predictive Blackwell approachability").
/// Their plays, later ones counting for more, average to splits and prices of which neither is
/// worth changing. At any time the averaged splits tell what can be carried, and the averaged
/// prices what no splits can carry.
class IdealSplits {
 public:
  /// `capacity` by trunk. Both are borrowed, and may change before begin().
  IdealSplits(const IdealGraph& graph, const std::vector<double>& capacity)
      : graph_(graph), capacity_(capacity), path_(graph, capacity) {}

  /// Begins a round: every node splits evenly, by capacity.
  void begin();

  /// The rate up to which free messages can be raised, nearly; `most` where that is no less.
  /// `least` can be reached for certain. What is fixed is lowered by a little, which leaves room
  /// for splits that are found only nearly. Cost: one pass over all arcs where even splits do, else
  /// some ten steps of a central path where these are cheap, else some ten to some hundred passes.
  double raise(IdealDemand& demand, double least, double most);

  /// After a raise() below `most`: by how much messages from a node may rise beyond it, at most,
  /// while all others reach it. Infinite where prices tell nothing. Bounds that meet have digits no
  /// further than is looked for: they prove nothing of messages that cost next to nothing.
  double rise(std::size_t node) const {
    return std::max(high_ - low_, kClose * high_) / distance_[node];
  }
  /// What a message from a node costs at the prices which prove that no more can be had.
  double distance(std::size_t node) const { return distance_[node]; }
  /// The rate that those prices leave possible, over what was found.
  double gap() const { return high_ / low_; }

  /// The part of what comes in at a node that goes on over one of the graph's arcs, by the splits
  /// found last.
  double split(std::size_t arc) const { return found_[arc]; }

  /// Exchanges the splits found last, by arc, for others.
  void exchange(std::vector<double>& splits) { found_.swap(splits); }
  /// Even splits, by arc.
  const std::vector<double>& even() const { return even_; }

  /// What flows over every trunk where so much comes in at each node, by the splits found last.
  std::vector<double> carry(std::span<const double> inflow) const;

 private:
  /// Where the bounds are nearer to each other, in parts of the rate, they are taken for one.
  static constexpr double kNear = 0.002;
  /// Likewise on a central path.
  static constexpr double kClose = 1e-6;
  /// What is fixed is lowered by so little, for the game and for a central path.
  static constexpr double kSlack = 0.002;
  static constexpr double kTightSlack = 1e-5;
  static constexpr int kMostSteps = 60;
  /// A step of a central path that costs no more multiplications is cheap.
  static constexpr double kMostCost = 5e6;
  static constexpr int kMostPasses = 1500;
  /// A trunk counts for full that is so full beside the fullest.
  static constexpr double kFull = 0.9;
  static constexpr int kBetweenBounds = 10;

  bool follow_path(const IdealDemand& demand, double most);
  void play(const IdealDemand& demand, double most);
  void restart();
  void flow(const IdealDemand& demand, double rate);
  void price();
  void regret();
  /// Later passes count for more: by the square of their number.
  void average(int pass);
  void average_splits();
  /// Keeps averaged splits if they carry more than any before, and summed prices if they prove that
  /// less can be carried. Whether both are near, or all can reach `most`.
  bool bound(const IdealDemand& demand, double most, double near);
  /// Lowers the rate above which nothing can be carried to that which summed prices prove.
  void upper(const IdealDemand& demand);
  double carried(const IdealDemand& demand, const std::vector<double>& split);

  const IdealGraph& graph_;
  const std::vector<double>& capacity_;
  CentralPath path_;
  enum class Path { unknown, cheap, dear } path_is_ = Path::unknown;
  double low_ = 0;
  double high_ = 0;
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
  std::vector<double> cost_;  ///< of what goes on, at the prices of the game
  std::vector<double> least_;
  std::vector<double> distance_;  ///< at the best prices, of which all that is free costs 1 a rate
};

}  // namespace contend
