#include <algorithm>

#include "contend/routes/computed/tree_formula.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

class TreeResolver final : public WrittenResolver<TreeResolver> {
 public:
  TreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
               const TurnsOf& turns)
      : WrittenResolver(places.hosts.size(), fabric.switch_channels(),
                        std::max<std::size_t>(2 * tree.steps_between(fabric, places.hosts), 2)),
        formula_(fabric, tree, places, turns),
        trees_(fabric, [this](SwitchId s, Place to) { return formula_.next(s, to); }, places) {}

  bool tabled() const override { return false; }
  const RouteTrees* trees() const override { return &trees_; }
  std::size_t bytes() const override { return formula_.bytes(); }

 private:
  friend WrittenResolver<TreeResolver>;

  template <class Out>
  void write(std::span<const Place> source, std::span<const Place> target, std::uint64_t,
             Out* channels) const {
    switch (formula_.steps()) {
      case 1:
        return write_steps<1>(source, target, channels);
      case 2:
        return write_steps<2>(source, target, channels);
      case 3:
        return write_steps<3>(source, target, channels);
      default:
        return write_steps<0>(source, target, channels);
    }
  }

  /// What lies below a common switch is padding, in the middle of the route.
  template <std::size_t Steps, class Out>
  void write_steps(std::span<const Place> source, std::span<const Place> target, Out* route) const {
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

}  // namespace

std::unique_ptr<Resolver> make_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                             const Places& places, const TurnsOf& turns) {
  return std::make_unique<TreeResolver>(fabric, tree, places, turns);
}

}  // namespace contend
