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
      for (std::size_t k = 0; k < steps_.size(); ++k) {
        const CompleteTree::Step& step = steps_[k];
        words_.push_back(2 * (step.first_cable + tree.subtree(k, leaf) * step.cables()));
        const bool last = k + 1 == tree.steps.size();
        const SwitchId first = last ? tree.top : tree.steps[k + 1].first;
        const std::uint32_t set = last ? 0 : tree.place[leaf] / tree.steps[k + 1].leaves;
        words_.push_back(first + set * step.planes_above());
      }
      words_.push_back(leaf);
    }
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return hosts_.size() * sizeof(HostId) + words_.size() * sizeof(std::uint32_t);
  }

 private:
  friend WrittenResolver<HashedTreeResolver>;

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t draw,
             Out* route) const {
    const Hashes hashes(draw, hashing_.alike);
    const std::size_t length = stride() / hashing_.flows;
    for (std::size_t m = 0; m < source.size(); ++m) {
      const HostId from = hosts_[source[m]], to = hosts_[target[m]];
      for (std::uint32_t number = 0; number < hashing_.flows; ++number, route += length) {
        const std::size_t hops = write_flow(hashes, hashes.of_flow(from, to, number), of(source[m]),
                                            of(target[m]), route);
        for (std::size_t k = hops; k < length; ++k) {
          route[k] = static_cast<Out>(switch_channels() + (k + 5 * m) % kPads);
        }
      }
    }
  }

  /// For each step the first of the channels up from the switches above a place's leaf, and the
  /// first of the switches that these lead to; then the leaf.
  const std::uint32_t* of(Place place) const {
    return words_.data() + (2 * steps_.size() + 1) * place;
  }

  /// Up by any cable until the target is below, and down by any that lead there.
  template <class Out>
  std::size_t write_flow(const Hashes& hashes, std::uint64_t flow, const std::uint32_t* from,
                         const std::uint32_t* to, Out* route) const {
    std::size_t hops = 0;
    std::size_t k = 0;
    std::uint32_t plane = 0;
    SwitchId at = from[2 * steps_.size()];
    for (; k < steps_.size() && from[2 * k] != to[2 * k]; ++k) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t ways = step.parents * step.links;
      const auto way = static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among = plane * ways + way;
      route[hops++] = static_cast<Out>(from[2 * k] + 2 * among);
      // Most have one cable to each parent: a division would take as long as the hash.
      plane = step.sharing > 1 ? step.plane_above(among)
              : step.links > 1 ? among / step.links
                               : among;
      at = from[2 * k + 1] + plane;
    }
    while (k-- > 0) {
      const CompleteTree::Step& step = steps_[k];
      const std::uint32_t ways = step.ways_down();
      // Most have one way: no hash is needed to choose it.
      const auto way = ways == 1 ? 0 : static_cast<std::uint32_t>(hashes.choose(flow, at, ways));
      const std::uint32_t among =
          step.sharing == 1 ? plane * step.links + way : step.cable_down(plane, way);
      route[hops++] = static_cast<Out>(to[2 * k] + 2 * among + 1);
      if (k == 0) break;
      plane = among / (step.parents * step.links);
      at = to[2 * k - 1] + plane;
    }
    return hops;
  }

  Hashing hashing_;
  std::vector<HostId> hosts_;
  std::vector<CompleteTree::Step> steps_;  ///< that places need
  std::vector<std::uint32_t> words_;       ///< by place, see of()
};

}  // namespace

std::unique_ptr<Resolver> make_hashed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                    const Places& places, const Hashing& hashing) {
  return std::make_unique<HashedTreeResolver>(fabric, tree, places, hashing);
}

}  // namespace contend
