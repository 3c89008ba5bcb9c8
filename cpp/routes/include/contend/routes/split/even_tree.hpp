#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Sprayed shortest ways on a complete tree: what leaves the switches above some leaves spreads
/// evenly over all their cables up, and comes down as evenly to those above its target. So the
/// cables up from all switches that have the same leaves below, a *bundle*, carry the same.
/// Memory: a word for each place and step.
class EvenTree {
 public:
  struct Bundle {
    ChannelId first;  ///< up; the channel down follows, then those of the next cable
    std::uint32_t cables;
  };

  EvenTree(const Fabric& fabric, const CompleteTree& tree, const Places& places);

  /// Those that lead from some of the places to others.
  std::size_t steps() const { return steps_; }
  const std::vector<Bundle>& bundles() const { return bundles_; }
  /// The bundle of every step above a place. A message goes up by those of its source, and down by
  /// those of its target, until both are the same.
  const std::uint32_t* of(Place place) const { return above_.data() + steps_ * place; }
  std::size_t bytes() const {
    return above_.size() * sizeof(std::uint32_t) + bundles_.size() * sizeof(Bundle);
  }

 private:
  std::size_t steps_;
  std::vector<Bundle> bundles_;
  std::vector<std::uint32_t> above_;
};

}  // namespace contend
