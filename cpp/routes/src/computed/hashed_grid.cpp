#include "contend/routes/grid_hops.hpp"
#include "hashed_hops.hpp"

namespace contend {

std::unique_ptr<Resolver> make_hashed_grid_resolver(const Fabric& fabric, const Grid& grid,
                                                    const Places& places, const Hashing& hashing) {
  return std::make_unique<HashedHops<GridHops>>(fabric, places, GridHops(grid), hashing);
}

}  // namespace contend
