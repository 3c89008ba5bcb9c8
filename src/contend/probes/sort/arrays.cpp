#include "sort/arrays.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>

#include "common/check.hpp"
#include "common/operation.hpp"
#include "sort/memory.hpp"

namespace contend::probe::sort {

Arrays::Arrays(const Shares& shares, std::int64_t doubles, const Machines& machines,
               MPI_Comm comm) {
  ask_for(need_of(shares, doubles), machines, comm);
  const std::int64_t records = shares.length(rank_in(comm));
  bool has_memory = true;
  try {
    // Writes zeros, so every page is there before anything is timed.
    unsorted_memory_.resize(static_cast<std::size_t>(records * doubles));
    sorted_memory_.resize(static_cast<std::size_t>(records * doubles));
    local_sort_ = LocalSort(doubles, records);
  } catch (const std::bad_alloc&) {
    has_memory = false;
  }
  agree(has_memory, comm);
  unsorted_ = {unsorted_memory_.data(), records, doubles};
  sorted_ = {sorted_memory_.data(), records, doubles};
}

void Arrays::poison_sorted() {
  std::fill(sorted_memory_.begin(), sorted_memory_.end(), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace contend::probe::sort
