#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"

namespace contend {

/// A fat tree of which nothing is missing: an extended generalised one with cables in parallel, all
/// hosts on its leaves and on every leaf at least one. Switches are numbered level by level, those
/// of a level by the leaves below them and then by plane: switches of different planes have the
/// same leaves below. Cables are numbered by the lower switch, the parent and which of the parallel
/// ones each is, and so are their ports.
///
/// (Öhring, Ibel, Das, Kumar, On generalized fat trees, IPPS 1995.)
struct CompleteTree {
  /// The cables between the switches of one level and those of the next.
  struct Step {
    SwitchId first;             ///< of the lower switches
    std::uint32_t leaves;       ///< below each of them
    std::uint32_t planes;       ///< how many have the same leaves below
    std::uint32_t parents;      ///< of each
    std::uint32_t links;        ///< cables to each parent
    std::uint32_t first_cable;  ///< the others follow

    /// Cables up from all switches that have the same leaves below.
    std::uint32_t cables() const { return planes * parents * links; }
  };

  std::uint32_t leaves = 0;
  std::vector<Step> steps;  ///< from the leaves up
  SwitchId top = 0;         ///< first switch of the highest level

  /// Throws Error when the tree or one of the hosts does not belong to the fabric.
  void check(const Fabric& fabric, std::span<const HostId> hosts) const;
  /// How many of the steps lead from some host of these to another.
  std::size_t steps_between(const Fabric& fabric, std::span<const HostId> hosts) const;
};

/// The fabric as a complete tree; null where it is none, or is numbered otherwise.
/// Cost: one look at every host and cable.
std::unique_ptr<CompleteTree> find_complete_tree(const Fabric& fabric);

}  // namespace contend
