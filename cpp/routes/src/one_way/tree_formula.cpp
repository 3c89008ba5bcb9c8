#include "contend/routes/one_way/tree_formula.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "contend/base/error.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

/// Place of every host in the order of the tree: by leaf, then by port.
std::vector<HostId> numbers_of_hosts(const Fabric& fabric, const CompleteTree& tree) {
  std::vector<HostId> order(fabric.hosts());
  std::iota(order.begin(), order.end(), HostId{0});
  const auto key = [&](HostId host) {
    return std::uint64_t{tree.place[fabric.host_switch(host)]} << 16 | fabric.host_port(host);
  };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::sort(order, {}, key);
  std::vector<HostId> number(fabric.hosts());
  for (HostId k = 0; k < number.size(); ++k) number[order[k]] = k;
  return number;
}

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

TurnsOf turns_of_mod_k(const Fabric& fabric, const CompleteTree& tree, Parallel parallel) {
  tree.check(fabric, {});
  return [number = numbers_of_hosts(fabric, tree), &tree, parallel](HostId host,
                                                                    std::span<std::uint32_t> turn) {
    HostId left = number[host];
    for (std::size_t k = 0; k < turn.size(); ++k) {
      const std::uint32_t parents = tree.steps[k].parents, links = tree.steps[k].links;
      turn[k] = left % (parents * links);
      if (parallel == Parallel::after_parents) {
        turn[k] = turn[k] % parents * links + turn[k] / parents;
        left /= parents;
      } else {
        left /= parents * links;
      }
    }
  };
}

TreeFormula::TreeFormula(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                         const TurnsOf& turns)
    : fabric_(&fabric), steps_(tree.steps_between(fabric, places.hosts)) {
  if (tree.shared()) throw Error("a tree whose planes have parents of their own");
  const std::span<const CompleteTree::Step> steps(tree.steps.data(), steps_);
  std::vector<std::uint32_t> turn(steps_);
  words_.reserve(2 * steps_ * places.hosts.size());
  for (const HostId host : places.hosts) {
    for (std::size_t k = 0; k < steps_; ++k) {
      const std::uint32_t subtree = tree.subtree(k, fabric.host_switch(host));
      words_.push_back(2 * (steps[k].first_cable + subtree * steps[k].cables()));
    }
    turns(host, turn);
    std::uint32_t plane = 0;
    for (std::size_t k = 0; k < steps_; ++k) {
      const std::uint32_t among = plane * steps[k].parents * steps[k].links + turn[k];
      words_.push_back(2 * among);
      plane = among / steps[k].links;
    }
  }
  at_.resize(fabric.switches(), {0, static_cast<std::uint32_t>(steps_)});
  for (std::uint32_t k = 0; k < steps_; ++k) {
    const CompleteTree::Step& step = tree.steps[k];
    const std::uint32_t count = tree.leaves / step.leaves * step.planes;
    for (std::uint32_t i = 0; i < count; ++i) {
      at_[step.first + i] = {2 * (step.first_cable + i / step.planes * step.cables()), k};
    }
  }
}

Step TreeFormula::next(SwitchId s, Place target) const {
  const At at = at_[s];
  const std::uint32_t* const to = of(target);
  if (at.step < steps_ && at.first != to[at.step]) {
    const ChannelId up = at.first + to[steps_ + at.step];
    return {up, fabric_->channel_to(up)};
  }
  if (at.step == 0) return {kNoChannel, TraceEnd::delivered};
  const ChannelId down = to[at.step - 1] + to[steps_ + at.step - 1] + 1;
  return {down, fabric_->channel_to(down)};
}

std::unique_ptr<Resolver> make_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                             const Places& places, const TurnsOf& turns) {
  return std::make_unique<TreeResolver>(fabric, tree, places, turns);
}

}  // namespace contend
