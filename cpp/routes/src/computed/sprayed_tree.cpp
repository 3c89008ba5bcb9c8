#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "contend/routes/computed/even_tree.hpp"
#include "contend/routes/computed/tree_formula.hpp"
#include "contend/routes/ways/ways.hpp"

namespace contend {

namespace {

class SprayedTreeResolver final : public SplittingResolver {
 public:
  SprayedTreeResolver(const Fabric& fabric, const CompleteTree& tree, const Places& places,
                      std::uint32_t unit)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(2 * tree.steps_between(fabric, places.hosts), 1),
                          unit),
        fabric_(fabric),
        places_(places),
        tree_(fabric, tree, places) {}

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

 private:
  const Fabric& fabric_;
  Places places_;
  EvenTree tree_;
  mutable std::once_flag asked_;
  mutable std::unique_ptr<Resolver> one_by_one_;
};

}  // namespace

EvenTree::EvenTree(const Fabric& fabric, const CompleteTree& tree, const Places& places)
    : steps_(tree.steps_between(fabric, places.hosts)) {
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
      above_.push_back(first[k] + tree.subtree(k, fabric.host_switch(host)));
    }
  }
}

std::unique_ptr<Resolver> make_sprayed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                     const Places& places) {
  return std::make_unique<SprayedTreeResolver>(fabric, tree, places, kSprayUnit);
}

}  // namespace contend
