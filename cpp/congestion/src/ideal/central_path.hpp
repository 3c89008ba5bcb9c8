#pragma once

#include <cstddef>
#include <cstdint>
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

/// How far all free messages of a demand can be raised together, to many digits: a linear programme
/// whose central path is followed by predictors and correctors (Mehrotra 1992, "On the
/// implementation of a primal-dual interior point method"). It ends in the middle of all prices
/// that are best, where whoever can still be raised alone costs nothing.
///
/// Only nodes with several arcs choose; from one to the next lead ways over one or more trunks.
class CentralPath {
 public:
  /// `capacity` by trunk. Both are borrowed, and may change before prepare().
  CentralPath(const IdealGraph& graph, const std::vector<double>& capacity)
      : graph_(graph), capacity_(capacity) {}

  /// Looks at the graph. False where a step would cost more than so many multiplications, and is
  /// not to be taken. Cost: one pass over all arcs at most.
  bool prepare(double most_cost);
  /// Begins at some splits, by arc, with free messages raised to nearly `rate`, and never above
  /// `most`.
  void begin(const IdealDemand& demand, const std::vector<double>& split, double rate, double most);
  /// One step; false where numbers have no more digits.
  bool step();
  /// Writes splits, as far as there is a choice, by arc, and prices by trunk.
  void tell(std::vector<double>& split, std::vector<double>& price) const;

 private:
  /// What is left of a trunk to begin with, at least, of what it carries.
  static constexpr double kLeft = 0.1;
  /// How far from the end it begins, in parts of the rate: flows that do not fit yet need as much.
  static constexpr double kFar = 1000;
  /// Of the way to where something is used up.
  static constexpr double kNearly = 0.99;
  /// A step that is shorter leads nowhere.
  static constexpr double kLeast = 1e-8;

  struct Way {
    std::size_t arc;    ///< of the graph, that it begins with
    std::size_t first;  ///< its rows: of the node that it leaves, of that where it ends, of trunks
    std::size_t end;
  };
  /// The ways to one class, and the matrix in which its nodes are eliminated: rows of nodes come
  /// first.
  struct Block {
    std::size_t first_way, end_way;
    std::size_t first_place;  ///< where each row is among all
    std::size_t nodes, size;
    std::size_t matrix;
  };

  void add_block(std::size_t first_node, std::size_t end_node);
  /// Adds to rows, or sums them up, with their signs: what leaves a node is negative.
  void add(const Block& block, const Way& way, double amount, std::vector<double>& to) const;
  double sum(const Block& block, const Way& way, const std::vector<double>& of) const;
  void factorise();
  /// Solves for all rows in place.
  void solve(std::vector<double>& x);
  /// The change of everything after which products have changed by so much.
  void find_direction(const std::vector<double>& product);
  static double longest(const std::vector<double>& value, const std::vector<double>& change);

  const IdealGraph& graph_;
  const std::vector<double>& capacity_;
  std::vector<std::size_t> node_;          ///< by node, its number among those with a choice
  std::vector<std::uint32_t> trunk_;       ///< trunks that are crossed
  std::vector<std::size_t> trunk_number_;  ///< by trunk
  std::vector<Way> ways_;
  std::vector<std::size_t> row_;  ///< of ways, in their block
  std::vector<Block> blocks_;
  std::vector<std::size_t> place_;  ///< of rows of blocks: nodes with a choice, then trunks
  std::size_t nodes_ = 0;
  std::vector<double> matrix_;
  std::vector<double> trunk_matrix_;
  // What does not change while the path is followed, by place.
  double unit_ = 1;
  double most_ = 0;
  std::vector<double> fixed_;
  std::vector<double> free_;
  // Where it is: flows of ways and what is left of trunks and of `most`, with the price of each.
  double rate_ = 0;
  std::vector<double> value_;
  std::vector<double> price_;
  std::vector<double> distance_;  ///< by place; of trunks the price
  // The direction.
  std::vector<double> too_dear_;  ///< by way
  std::vector<double> of_free_;
  double rate_change_ = 0;
  std::vector<double> value_change_;
  std::vector<double> price_change_;
  std::vector<double> change_;
};

}  // namespace contend
