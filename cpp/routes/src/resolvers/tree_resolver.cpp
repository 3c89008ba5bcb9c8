#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/even_tree.hpp"
#include "contend/routes/route_trees.hpp"
#include "contend/routes/tree_formula.hpp"
#include "contend/routes/ways.hpp"

namespace contend {

namespace {

/// Steps that lead from some places to others.
std::size_t steps_between(const Fabric& fabric, const CompleteTree& tree, const Places& places) {
  std::vector<SwitchId> leaf;
  for (const HostId host : places.hosts) leaf.push_back(fabric.host_switch(host));
  return tree.steps_between(leaf);
}

class TreeResolver final : public Resolver {
 public:
  TreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
               Parallel parallel)
      : Resolver(places.hosts.size(), fabric.switch_channels(),
                 std::max<std::size_t>(2 * steps_between(fabric, tree, places), 2)),
        formula_(fabric, tree, places, parallel),
        trees_(fabric, formula_, places) {}

  bool tabled() const override { return false; }
  const RouteTrees* trees() const override { return &trees_; }
  std::size_t bytes() const override { return formula_.bytes(); }

  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint16_t* channels) const override {
    compute(source, target, channels);
  }
  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint32_t* channels) const override {
    compute(source, target, channels);
  }

 private:
  template <class Out>
  void compute(std::span<const Place> source, std::span<const Place> target, Out* channels) const {
    switch (formula_.steps()) {
      case 1:
        return compute_steps<1>(source, target, channels);
      case 2:
        return compute_steps<2>(source, target, channels);
      case 3:
        return compute_steps<3>(source, target, channels);
      default:
        return compute_steps<0>(source, target, channels);
    }
  }

  /// What lies below a common switch is padding, in the middle of the route.
  template <std::size_t Steps, class Out>
  void compute_steps(std::span<const Place> source, std::span<const Place> target,
                     Out* route) const {
    const std::size_t steps = Steps > 0 ? Steps : formula_.steps();
    const auto pads = static_cast<std::uint32_t>(switch_channels());
    const std::size_t length = stride();
    for (std::size_t m = 0; m < source.size(); ++m, route += length) {
      const std::uint32_t* const from = formula_.of(source[m]);
      const std::uint32_t* const to = formula_.of(target[m]);
      const auto pad = pads + static_cast<std::uint32_t>(m % kPads);
      // On one switch there is nothing but padding.
      if (steps == 0) route[0] = route[1] = static_cast<Out>(pad);
      for (std::size_t k = 0; k < steps; ++k) {
        const bool over = from[k] != to[k];
        const std::uint32_t turn = to[steps + k];
        route[k] = static_cast<Out>(over ? from[k] + turn : pad);
        route[length - 1 - k] = static_cast<Out>(over ? to[k] + turn + 1 : pad);
      }
    }
  }

  TreeFormula formula_;
  RouteTrees trees_;
};

class HashedTreeResolver final : public Resolver {
 public:
  HashedTreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                     const Hashing& hashing)
      : Resolver(places.hosts.size(), fabric.switch_channels(),
                 std::max<std::size_t>(2 * steps_between(fabric, tree, places), 1) * hashing.flows,
                 hashing.flows),
        hashing_(hashing),
        hosts_(places.hosts),
        steps_(tree.steps.begin(), tree.steps.begin() + static_cast<std::ptrdiff_t>(
                                                            steps_between(fabric, tree, places))) {
    for (const HostId host : hosts_) leaf_.push_back(fabric.host_switch(host));
    for (std::size_t k = 0; k < tree.steps.size(); ++k) {
      const bool last = k + 1 == tree.steps.size();
      above_.push_back(last ? tree.top : tree.steps[k + 1].first);
      leaves_above_.push_back(last ? tree.leaves : tree.steps[k + 1].leaves);
      planes_above_.push_back(tree.steps[k].planes * tree.steps[k].parents);
    }
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return hosts_.size() * sizeof(HostId) + leaf_.size() * sizeof(SwitchId);
  }

  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint16_t* channels) const override {
    walk(source, target, 0, channels);
  }
  void resolve(std::span<const Place> source, std::span<const Place> target,
               std::uint32_t* channels) const override {
    walk(source, target, 0, channels);
  }
  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint16_t* channels) const override {
    walk(source, target, draw, channels);
  }
  void resolve_drawn(std::span<const Place> source, std::span<const Place> target,
                     std::uint64_t draw, std::uint32_t* channels) const override {
    walk(source, target, draw, channels);
  }

 private:
  template <class Out>
  void walk(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
            Out* route) const {
    const Hashes hashes(draw, hashing_.alike);
    const std::size_t length = stride() / hashing_.flows;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const HostId from = hosts_[source[m]], to = hosts_[target[m]];
      for (std::uint32_t number = 0; number < hashing_.flows; ++number, route += length) {
        const std::size_t hops = walk_flow(hashes, hashes.of_flow(from, to, number),
                                           leaf_[source[m]], leaf_[target[m]], route);
        for (std::size_t k = hops; k < length; ++k) {
          route[k] = static_cast<Out>(switch_channels() + (k + 5 * m) % kPads);
        }
      }
    }
  }

  /// Up by any cable until the target is below, and down by any of those in parallel.
  template <class Out>
  std::size_t walk_flow(const Hashes& hashes, std::uint64_t flow, SwitchId from, SwitchId to,
                        Out* route) const {
    std::size_t hops = 0;
    std::size_t k = 0;
    std::uint32_t plane = 0;
    SwitchId at = from;
    for (; k < steps_.size(); ++k) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t subtree = from / step.leaves;
      if (subtree == to / step.leaves) break;
      const std::uint32_t ways = step.parents * step.links;
      const auto way = static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among = plane * ways + way;
      route[hops++] = static_cast<Out>(2 * (step.first_cable + subtree * step.cables() + among));
      plane = among / step.links;
      at = above(k, from, plane);
    }
    while (k-- > 0) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t subtree = to / step.leaves;
      const auto copy = static_cast<std::uint32_t>(hashes.choose(flow, at, step.links));
      const std::uint32_t among = plane * step.links + copy;
      route[hops++] =
          static_cast<Out>(2 * (step.first_cable + subtree * step.cables() + among) + 1);
      plane /= step.parents;
      at = k > 0 ? above(k - 1, to, plane) : to;
    }
    return hops;
  }

  /// The switch above a leaf by k + 1 steps.
  SwitchId above(std::size_t k, SwitchId leaf, std::uint32_t plane) const {
    return above_[k] + leaf / leaves_above_[k] * planes_above_[k] + plane;
  }

  Hashing hashing_;
  std::vector<HostId> hosts_;
  std::vector<SwitchId> leaf_;             ///< of every place
  std::vector<CompleteTree::Step> steps_;  ///< that places need
  // Of the switches that each step leads up to:
  std::vector<SwitchId> above_;              ///< the first of them
  std::vector<std::uint32_t> leaves_above_;  ///< leaves below each of them
  std::vector<std::uint32_t> planes_above_;  ///< how many have the same leaves below
};

class SprayedTreeResolver final : public Resolver {
 public:
  SprayedTreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                      std::uint32_t unit)
      : Resolver(places.hosts.size(), fabric.switch_channels(),
                 std::max<std::size_t>(2 * steps_between(fabric, tree, places), 1), unit),
        fabric_(fabric),
        places_(places),
        tree_(fabric, tree, places) {}

  bool tabled() const override { return false; }
  std::size_t bytes() const override { return tree_.bytes(); }
  const EvenTree* even_tree() const override { return &tree_; }
  bool splits() const override { return true; }
  const Ways* ways() const override {
    std::call_once(asked_, [&] {
      one_by_one_ = make_sprayed_resolver(fabric_, places_, next_hops(fabric_, places_));
    });
    return one_by_one_->ways();
  }
  std::uint64_t work_of_round() const override { return 2 * switch_channels(); }

  void resolve(std::span<const Place>, std::span<const Place>, std::uint16_t*) const override {
    refuse();
  }
  void resolve(std::span<const Place>, std::span<const Place>, std::uint32_t*) const override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error("routes that take one way at a time, got some that split every message");
  }

  const Fabric& fabric_;
  Places places_;
  EvenTree tree_;
  mutable std::once_flag asked_;
  mutable std::unique_ptr<Resolver> one_by_one_;
};

}  // namespace

EvenTree::EvenTree(const Fabric& fabric, const CompleteTree& tree, const Places& places)
    : steps_(steps_between(fabric, tree, places)) {
  std::vector<std::uint32_t> first;
  for (std::size_t k = 0; k < steps_; ++k) {
    const CompleteTree::Step& step = tree.steps[k];
    first.push_back(static_cast<std::uint32_t>(bundles_.size()));
    for (std::uint32_t subtree = 0; subtree < tree.leaves / step.leaves; ++subtree) {
      bundles_.push_back({2 * (step.first_cable + subtree * step.cables()), step.cables()});
    }
  }
  above_.reserve(steps_ * places.hosts.size());
  for (const HostId host : places.hosts) {
    for (std::size_t k = 0; k < steps_; ++k) {
      above_.push_back(first[k] + fabric.host_switch(host) / tree.steps[k].leaves);
    }
  }
}

std::unique_ptr<Resolver> make_sprayed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                     const Places& places) {
  return std::make_unique<SprayedTreeResolver>(fabric, tree, places, kSprayUnit);
}

std::unique_ptr<Resolver> make_hashed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                    const Places& places, const Hashing& hashing) {
  return std::make_unique<HashedTreeResolver>(fabric, tree, places, hashing);
}

std::unique_ptr<Resolver> make_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                             const Places& places, Parallel parallel) {
  return std::make_unique<TreeResolver>(fabric, tree, places, parallel);
}

}  // namespace contend
