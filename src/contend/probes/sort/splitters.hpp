#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "sort/records.hpp"

namespace contend::probe::sort {

/// How many of this rank's sorted records belong to each rank, so that every rank gets its share of
/// the whole order exactly. Collective.
///
/// The boundaries between shares are found by their place in the whole order, not guessed from
/// samples: no rank gets more than its array holds, whatever the input. Of records with a key that
/// several ranks share, those of lower ranks come first, which is the order of the whole input; so
/// even where all keys are equal every rank gets its share.
///
/// Narrows the range of every boundary's key, as an ordered 64-bit word, by counting the records
/// below many words at once: at most 16 sums over all ranks of at most max(4096, 15 p) counts, and
/// O(log n/p) work for each count; one sum of prefixes more where keys are equal at a boundary.
[[nodiscard]] std::vector<std::int64_t> split(const Records& sorted, const Shares& shares,
                                              MPI_Comm comm);

}  // namespace contend::probe::sort
