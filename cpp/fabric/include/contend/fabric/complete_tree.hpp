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
/// same leaves below. Leaves may come in another order, as in units that have one of each rail.
/// Consecutive planes may share their parents, as spines below one group of core switches do.
/// Cables are numbered by the lower switch, the parent and which of the parallel ones each is, and
/// so are their ports.
///
/// (Öhring, Ibel, Das, Kumar, On generalized fat trees, IPPS 1995.)
struct CompleteTree {
  /// The cables between the switches of one level and those of the next.
  struct Step {
    SwitchId first;             ///< of the lower switches
    std::uint32_t leaves;       ///< below each of them
    std::uint32_t planes;       ///< how many have the same leaves below
    std::uint32_t sharing;      ///< how many of these have the same parents
    std::uint32_t parents;      ///< of each
    std::uint32_t links;        ///< cables to each parent
    std::uint32_t first_cable;  ///< the others follow

    /// Cables up from all switches that have the same leaves below.
    std::uint32_t cables() const { return planes * parents * links; }
    /// Cables down from a switch above to all that have the same leaves below.
    std::uint32_t ways_down() const { return sharing * links; }
    std::uint32_t planes_above() const { return planes / sharing * parents; }
    /// The plane above to which one of cables() leads.
    std::uint32_t plane_above(std::uint32_t cable) const {
      const std::uint32_t ways = parents * links;
      return cable / (sharing * ways) * parents + cable % ways / links;
    }
    /// Which of cables() leads down from a plane above, by its place among ways_down().
    std::uint32_t cable_down(std::uint32_t above, std::uint32_t way) const {
      const std::uint32_t plane = above / parents * sharing + way / links;
      return (plane * parents + above % parents) * links + way % links;
    }
  };

  std::uint32_t leaves = 0;
  std::vector<Step> steps;  ///< from the leaves up
  SwitchId top = 0;         ///< first switch of the highest level
  /// By leaf, its place in the order in which switches above have leaves below.
  std::vector<std::uint32_t> place;

  /// Which of the sets of lower switches of a step with the same leaves below is above a leaf.
  std::uint32_t subtree(std::size_t step, SwitchId leaf) const {
    return step == 0 ? leaf : place[leaf] / steps[step].leaves;
  }
  /// Whether planes share parents anywhere: then a route may come down by another than it went up.
  bool shared() const;

  /// Throws Error when the tree or one of the hosts does not belong to the fabric.
  void check(const Fabric& fabric, std::span<const HostId> hosts) const;
  /// How many of the steps lead from some host of these to another. Throws likewise.
  std::size_t steps_between(const Fabric& fabric, std::span<const HostId> hosts) const;
};

/// The fabric as a complete tree; null where it is none, or is numbered otherwise.
/// Cost: one look at every host and cable.
std::unique_ptr<CompleteTree> find_complete_tree(const Fabric& fabric);

}  // namespace contend
