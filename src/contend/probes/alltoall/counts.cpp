#include "alltoall/counts.hpp"

#include <cstdint>

#include "alltoall/pair.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

Counts::Counts(Kind kind, std::size_t bytes, int ranks) : kind_(kind), bytes_(bytes) {
  const std::size_t most = 2 * bytes * static_cast<std::size_t>(ranks);
  while (kind == Kind::uneven && most / unit_ > kLargestCount) {
    unit_ *= 2;
  }
}

std::size_t Counts::of(int source, int destination) const {
  if (kind_ == Kind::even) {
    return bytes_;
  }
  const std::size_t most = 2 * bytes_ / unit_;
  const std::uint64_t drawn = pair_bits(source, destination, Use::count);
  switch (drawn % 8) {
    case 0:
      return 0;
    case 1:
      return most * unit_;
    default:
      return static_cast<std::size_t>((drawn >> 3) % (most + 1)) * unit_;
  }
}

}  // namespace contend::probe::alltoall
