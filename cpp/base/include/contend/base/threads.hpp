#pragma once

#include <omp.h>

#include <algorithm>

namespace contend {

/// How many of `wanted` threads can run at once, the calling one among them; at least 1. A limit
/// of the user's or of a container's processes may allow fewer, and the OpenMP runtime then ends
/// the program. Cost: once for every caller and higher number, it starts and ends that many.
int startable_threads(int wanted);

/// Threads to start where `wanted` are asked for; 0 or less asks for the runtime's own number
/// (OMP_NUM_THREADS, else one per core). Never more than four a core: beyond that nothing gets
/// faster, and the runtime does not survive tens of thousands. Never more than can be started.
inline int thread_count(int wanted = 0) {
  return startable_threads(
      std::clamp(wanted > 0 ? wanted : omp_get_max_threads(), 1, 4 * omp_get_num_procs()));
}

}  // namespace contend
