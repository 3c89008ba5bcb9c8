#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/routes/checks/trace.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Which cable up messages to a host take, in the order of their ports: one for each step.
using TurnsOf = std::function<void(HostId, std::span<std::uint32_t> turn)>;

/// Those of destination-mod-k, see d_mod_k().
TurnsOf turns_of_mod_k(const Fabric& fabric, const CompleteTree& tree, Parallel parallel);

/// Routes on a complete tree without tables, where the turns of a host are the same at all switches
/// of a level: the channels that d_mod_k() and, on most trees, minhop() give.
///
/// A route goes up by as many steps as there are until its target is below, and as many down. On
/// step k it takes, of the cables that lead up from the switches above its source's leaf and from
/// those above its target's, the one with the same place among them: a number of the target alone.
/// Memory: two words for each place and step, and two for each switch. Borrows the fabric.
class TreeFormula {
 public:
  /// Throws Error when places or tree do not belong to the fabric.
  TreeFormula(const Fabric& fabric, const CompleteTree& tree, const Places& places,
              const TurnsOf& turns);

  /// Those that lead from some of the places to others.
  std::size_t steps() const { return steps_; }
  /// Channels up from the leaf of a place: the first of those of each step, then the places among
  /// them of what is sent to it, two for each cable; shape [2 * steps()].
  const std::uint32_t* of(Place place) const { return words_.data() + 2 * steps_ * place; }
  /// Where a route from a leaf to a place goes on from a switch that it comes by.
  Step next(SwitchId s, Place target) const;
  std::size_t bytes() const {
    return words_.size() * sizeof(std::uint32_t) + at_.size() * sizeof(At);
  }

 private:
  struct At {
    std::uint32_t first;  ///< as of a place below, on this step
    std::uint32_t step;
  };

  const Fabric* fabric_;
  std::size_t steps_;
  std::vector<std::uint32_t> words_;
  std::vector<At> at_;  ///< by switch
};

/// Computes routes for every message: two words of the source and of the target for each step.
std::unique_ptr<Resolver> make_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                             const Places& places, const TurnsOf& turns);

}  // namespace contend
