#include <doctest/doctest.h>
#include <omp.h>

#include <climits>

#include "contend/base/threads.hpp"

using contend::startable_threads;
using contend::thread_count;

TEST_CASE("a handful of threads can be started, and one is there already") {
  CHECK(startable_threads(1) == 1);
  CHECK(startable_threads(3) == 3);
  CHECK(startable_threads(2) == 2);
}

TEST_CASE("never more than four threads a core, and never less than one") {
  CHECK(thread_count(1) == 1);
  CHECK(thread_count(INT_MAX) <= 4 * omp_get_num_procs());
  CHECK(thread_count(-1) >= 1);
  CHECK(thread_count() >= 1);
}
