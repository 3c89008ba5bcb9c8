#include "contend/routes/tree_formula.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

namespace {

/// Place of every host in the order of the tree: by leaf, then by port.
std::vector<HostId> numbers_of_hosts(const Fabric& fabric) {
  std::vector<HostId> order(fabric.hosts());
  std::iota(order.begin(), order.end(), HostId{0});
  const auto key = [&](HostId host) {
    return std::uint64_t{fabric.host_switch(host)} << 16 | fabric.host_port(host);
  };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::sort(order, {}, key);
  std::vector<HostId> number(fabric.hosts());
  for (HostId k = 0; k < number.size(); ++k) number[order[k]] = k;
  return number;
}

/// Of the cables up from switches that have the same leaves below, the one that leads to hosts with
/// a number, for every step.
void write_turns(std::span<const CompleteTree::Step> steps, Parallel parallel, std::uint64_t number,
                 std::uint32_t* word) {
  std::uint64_t plane = 0;
  for (const CompleteTree::Step& step : steps) {
    const std::uint64_t turn = number % (std::uint64_t{step.parents} * step.links);
    const bool by_parent = parallel == Parallel::after_parents;
    const std::uint64_t parent = by_parent ? turn % step.parents : turn / step.links;
    const std::uint64_t copy = by_parent ? turn / step.parents : turn % step.links;
    number /= by_parent ? step.parents : step.parents * step.links;
    plane = plane * step.parents + parent;
    *word++ = static_cast<std::uint32_t>(2 * (plane * step.links + copy));
  }
}

}  // namespace

TreeFormula::TreeFormula(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                         Parallel parallel)
    : fabric_(&fabric), steps_(0) {
  const std::size_t cables =
      std::accumulate(tree.steps.begin(), tree.steps.end(), std::size_t{0},
                      [&](std::size_t sum, const CompleteTree::Step& step) {
                        return sum + std::size_t{tree.leaves} / step.leaves * step.cables();
                      });
  if (cables != fabric.cables()) throw Error("a tree that belongs to the fabric");
  for (const HostId host : places.hosts) {
    if (host >= fabric.hosts()) throw Error("host " + std::to_string(host) + " does not exist");
  }
  steps_ = tree.steps_between(fabric, places.hosts);
  const std::span<const CompleteTree::Step> steps(tree.steps.data(), steps_);
  const std::vector<HostId> number = numbers_of_hosts(fabric);
  words_.reserve(2 * steps_ * places.hosts.size());
  for (const HostId host : places.hosts) {
    for (const CompleteTree::Step& step : steps) {
      const std::uint32_t subtree = fabric.host_switch(host) / step.leaves;
      words_.push_back(2 * (step.first_cable + subtree * step.cables()));
    }
    words_.resize(words_.size() + steps_);
    write_turns(steps, parallel, number[host], words_.data() + words_.size() - steps_);
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

}  // namespace contend
