#include "contend/routes/computed/dragonfly_hops.hpp"
#include "hashed_hops.hpp"
#include "sprayed_hops.hpp"

namespace contend {

std::unique_ptr<Resolver> make_hashed_dragonfly_resolver(const Fabric& fabric,
                                                         const Dragonfly& dragonfly,
                                                         const Places& places,
                                                         const Hashing& hashing) {
  return std::make_unique<HashedHops<DragonflyHops>>(fabric, places,
                                                     DragonflyHops(dragonfly, false), hashing);
}

std::unique_ptr<Resolver> make_sprayed_dragonfly_resolver(const Fabric& fabric,
                                                          const Dragonfly& dragonfly,
                                                          const Places& places, bool by_groups) {
  return std::make_unique<SprayedHops<DragonflyHops>>(fabric, places,
                                                      DragonflyHops(dragonfly, by_groups));
}

}  // namespace contend
