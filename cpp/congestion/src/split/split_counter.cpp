#include "split_counter.hpp"

#include "contend/routes/split/ways.hpp"
#include "ideal_counter.hpp"
#include "shared_counters.hpp"
#include "ways_counters.hpp"

namespace contend {

std::unique_ptr<SplitCounter> make_split_counter(const Resolver& resolver, std::uint64_t messages) {
  if (resolver.ideal_ways() != nullptr) return std::make_unique<IdealCounter>(resolver);
  // Before ways are asked for, which are made then.
  if (resolver.even_tree() != nullptr) return std::make_unique<TreeCounter>(*resolver.even_tree());
  const Ways* const ways = resolver.ways();
  if (ways == nullptr) return nullptr;
  if (ways->most_followed() > 0 && messages <= ways->most_followed()) {
    return std::make_unique<FollowedCounter>(*ways, resolver.switch_channels());
  }
  if (ways->part_lists() != nullptr) {
    return std::make_unique<ListsCounter>(*ways, resolver.places());
  }
  return std::make_unique<WaysCounter>(*ways, resolver.switch_channels());
}

}  // namespace contend
