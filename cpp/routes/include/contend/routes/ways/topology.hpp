#pragma once

#include <variant>

#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/dragonfly.hpp"
#include "contend/fabric/grid.hpp"
#include "contend/fabric/remains.hpp"

namespace contend {

/// How shortest ways are found: by searches of what is left of a fabric, or of all of it where that
/// is null; or, without sets of channels, by the formula of the network that all of it is.
using Topology = std::variant<const Remains*, const CompleteTree*, const Dragonfly*, const Grid*>;

/// What is left of a fabric; null where a formula tells ways, and for all of it.
inline const Remains* rest_of(const Topology& topology) {
  const auto* const rest = std::get_if<const Remains*>(&topology);
  return rest == nullptr ? nullptr : *rest;
}

}  // namespace contend
