#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "contend/routes/checks/trace.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

/// Routes that depend on the leaf switch of the source and on the target alone: those to one target
/// form a tree. Borrows the fabric and its tables.
class RouteTrees {
 public:
  /// Where a route to a target goes on from a switch that it comes by.
  using Formula = std::function<Step(SwitchId, Place)>;

  /// Every place has an address, and all routes between places arrive.
  RouteTrees(const Fabric& fabric, const TableView& tables, const AddressView& addresses,
             const Places& places)
      : fabric_(&fabric), tables_(tables) {
    for (const HostId host : places.hosts) {
      targets_.push_back({addresses.first[host], host});
      leaf_.push_back(fabric.host_switch(host));
    }
  }
  /// By a formula instead, which needs no addresses: hosts' numbers stand for them.
  RouteTrees(const Fabric& fabric, Formula formula, const Places& places)
      : fabric_(&fabric), tables_{}, formula_(std::move(formula)) {
    for (const HostId host : places.hosts) {
      targets_.push_back({host, host});
      leaf_.push_back(fabric.host_switch(host));
    }
  }

  std::size_t switches() const { return fabric_->switches(); }
  SwitchId leaf(Place place) const { return leaf_[place]; }
  Address address(Place place) const { return targets_[place].address; }

  /// One thread's means to grow trees.
  class Grower {
   public:
    explicit Grower(const RouteTrees& trees) : trees_(&trees), tree_(trees.switches()) {
      if (!trees.formula_) {
        next_.emplace(*trees.fabric_, trees.tables_);
      } else {
        steps_.resize(trees.switches());
      }
    }

    /// The most targets of one call.
    static constexpr std::size_t kMost = ForwardingBlock::kBlock;

    /// Calls visit(target, tree, steps) with the tree from some leaves to each target in turn, and
    /// the step from every switch of it. Targets come by ascending address. Cost: one table entry
    /// per target and switch of its tree; least where the targets' addresses are neighbours.
    template <class Visit>
    void grow(std::span<const Place> targets, std::span<const SwitchId> leaves,
              const Visit& visit) {
      if (!next_) return compute(targets, leaves, visit);
      block_.clear();
      for (const Place target : targets) block_.push_back(trees_->targets_[target]);
      next_->begin_at(leaves);
      next_->look_up(block_);
      for (std::size_t i = 0; i < targets.size(); ++i) {
        tree_.clear();
        for (const SwitchId leaf : leaves) {
          tree_.reach(leaf, [&](SwitchId from) { return next_->next(i, from); });
        }
        visit(targets[i], tree_, next_->steps(i));
      }
    }

   private:
    template <class Visit>
    void compute(std::span<const Place> targets, std::span<const SwitchId> leaves,
                 const Visit& visit) {
      for (const Place target : targets) {
        tree_.clear();
        for (const SwitchId leaf : leaves) {
          tree_.reach(leaf, [&](SwitchId from) {
            return (steps_[from] = trees_->formula_(from, target)).onward;
          });
        }
        visit(target, tree_, std::span<const Step>(steps_));
      }
    }

    const RouteTrees* trees_;
    InTree tree_;
    std::optional<ForwardingBlock> next_;  ///< of tables
    std::vector<Destination> block_;
    std::vector<Step> steps_;  ///< by switch, of the formula
  };

 private:
  const Fabric* fabric_;
  TableView tables_;
  Formula formula_;                   ///< instead of tables
  std::vector<Destination> targets_;  ///< by place
  std::vector<SwitchId> leaf_;        ///< by place
};

}  // namespace contend
