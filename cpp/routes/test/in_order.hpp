#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"

namespace contend::test {

/// So many numbers from 0, or from another, as of hosts, places or addresses.
inline std::vector<std::uint32_t> in_order(std::size_t count, std::uint32_t first = 0) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

inline Places all_hosts(const Fabric& fabric) { return {in_order(fabric.hosts()), false}; }

}  // namespace contend::test
