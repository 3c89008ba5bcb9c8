#pragma once

#include <omp.h>

#include <algorithm>

namespace contend {

/// Threads to start where `wanted` are asked for; 0 or less asks for the runtime's own number
/// (OMP_NUM_THREADS, else one per core). Never more than four a core: beyond that nothing gets
/// faster, and the runtime does not survive tens of thousands.
inline int thread_count(int wanted = 0) {
  return std::clamp(wanted > 0 ? wanted : omp_get_max_threads(), 1, 4 * omp_get_num_procs());
}

}  // namespace contend
