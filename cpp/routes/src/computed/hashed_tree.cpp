#include <algorithm>
#include <cstddef>
#include <vector>

#include "contend/routes/computed/tree_formula.hpp"

namespace contend {

namespace {

class HashedTreeResolver final : public WrittenResolver<HashedTreeResolver> {
 public:
  HashedTreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                     const Hashing& hashing)
      : WrittenResolver(
            places.hosts.size(), fabric.switch_channels(),
            std::max<std::size_t>(2 * tree.steps_between(fabric, places.hosts), 1) * hashing.flows,
            hashing.flows),
        hashing_(hashing),
        hosts_(places.hosts),
        steps_(tree.steps.begin(),
               tree.steps.begin() +
                   static_cast<std::ptrdiff_t>(tree.steps_between(fabric, places.hosts))) {
    for (const HostId host : hosts_) {
      const SwitchId leaf = fabric.host_switch(host);
      leaf_.push_back({leaf, tree.place[leaf]});
    }
    for (std::size_t k = 0; k < tree.steps.size(); ++k) {
      const bool last = k + 1 == tree.steps.size();
      above_.push_back(last ? tree.top : tree.steps[k + 1].first);
      leaves_above_.push_back(last ? tree.leaves : tree.steps[k + 1].leaves);
      planes_above_.push_back(tree.steps[k].planes_above());
    }
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return hosts_.size() * sizeof(HostId) + leaf_.size() * sizeof(Leaf);
  }

 private:
  friend WrittenResolver<HashedTreeResolver>;

  struct Leaf {
    SwitchId number;
    std::uint32_t place;
  };

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Out* route) const {
    const Hashes hashes(draw, hashing_.alike);
    const std::size_t length = stride() / hashing_.flows;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const HostId from = hosts_[source[m]], to = hosts_[target[m]];
      for (std::uint32_t number = 0; number < hashing_.flows; ++number, route += length) {
        const std::size_t hops = write_flow(hashes, hashes.of_flow(from, to, number),
                                            leaf_[source[m]], leaf_[target[m]], route);
        for (std::size_t k = hops; k < length; ++k) {
          route[k] = static_cast<Out>(switch_channels() + (k + 5 * m) % kPads);
        }
      }
    }
  }

  /// Up by any cable until the target is below, and down by any that lead there.
  template <class Out>
  std::size_t write_flow(const Hashes& hashes, std::uint64_t flow, Leaf from, Leaf to,
                         Out* route) const {
    std::size_t hops = 0;
    std::size_t k = 0;
    std::uint32_t plane = 0;
    SwitchId at = from.number;
    for (; k < steps_.size(); ++k) {
      const CompleteTree::Step& step = steps_[k];
      if (from.place / step.leaves == to.place / step.leaves) break;
      const std::uint32_t subtree = k == 0 ? from.number : from.place / step.leaves;
      const std::uint32_t ways = step.parents * step.links;
      const auto way = static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among = plane * ways + way;
      route[hops++] = static_cast<Out>(2 * (step.first_cable + subtree * step.cables() + among));
      plane = step.sharing == 1 ? among / step.links : step.plane_above(among);
      at = above(k, from, plane);
    }
    while (k-- > 0) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t subtree = k == 0 ? to.number : to.place / step.leaves;
      const auto way = static_cast<std::uint32_t>(hashes.choose(flow, at, step.ways_down()));
      const std::uint32_t among =
          step.sharing == 1 ? plane * step.links + way : step.cable_down(plane, way);
      route[hops++] =
          static_cast<Out>(2 * (step.first_cable + subtree * step.cables() + among) + 1);
      plane = among / (step.parents * step.links);
      at = k > 0 ? above(k - 1, to, plane) : to.number;
    }
    return hops;
  }

  /// The switch above a leaf by k + 1 steps.
  SwitchId above(std::size_t k, Leaf leaf, std::uint32_t plane) const {
    return above_[k] + leaf.place / leaves_above_[k] * planes_above_[k] + plane;
  }

  Hashing hashing_;
  std::vector<HostId> hosts_;
  std::vector<Leaf> leaf_;                 ///< of every place
  std::vector<CompleteTree::Step> steps_;  ///< that places need
  // Of the switches that each step leads up to:
  std::vector<SwitchId> above_;              ///< the first of them
  std::vector<std::uint32_t> leaves_above_;  ///< leaves below each of them
  std::vector<std::uint32_t> planes_above_;  ///< how many have the same leaves below
};

}  // namespace

std::unique_ptr<Resolver> make_hashed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                    const Places& places, const Hashing& hashing) {
  return std::make_unique<HashedTreeResolver>(fabric, tree, places, hashing);
}

}  // namespace contend
