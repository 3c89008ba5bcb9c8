#pragma once

#include <cstddef>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/engines.hpp"

namespace contend {

/// Tables whose routes arrive again, and how many of each switch's entries had to change.
struct MendedTables {
  Tables tables;
  std::vector<std::size_t> changed;
};

/// Mends tables of a fabric that has lost cables or switches, with as few changes as there can be:
/// routes that arrive stay as they are. Every switch from which none arrives gets the shortest way
/// to one from which it does, by the port that fewest other addresses use there.
///
/// Where no cables lead there is no entry, and addresses that no switch has an entry for are left.
/// Throws Error when tables do not belong to the fabric.
/// Deadlock is not looked at: new entries may turn where the engine of the others never does.
/// Cost: addresses x (switches + cables at switches that have lost their way).
MendedTables mend(const Fabric& fabric, const Targets& targets, const Tables& tables);

}  // namespace contend
