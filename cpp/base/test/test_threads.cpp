#include "contend/base/threads.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

using namespace contend;

namespace {

/// More pieces than could ever be done: only a stop ends them.
constexpr std::size_t kEndless = std::size_t{1} << 62;

/// How often this thread gave its processor away.
thread_local int yields = 0;

}  // namespace

extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

TEST_CASE("a handful of threads can be started, and one is there already") {
  CHECK(startable_threads(1) == 1);
  CHECK(startable_threads(3) == 3);
  CHECK(startable_threads(2) == 2);
}

TEST_CASE("threads that others start meanwhile are not waited for") {
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;
  std::thread starts([&] {
    while (!enough && others.size() < 500) {
      others.emplace_back([&enough] { enough.wait(false); });
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  int most = 0;
  for (int turn = 0; turn < 50; ++turn) {
    // What can be started is known to each thread by itself.
    std::thread([&most] {
      yields = 0;
      CHECK(startable_threads(4) == 4);
      most = std::max(most, yields);
    }).join();
  }
  enough = true;
  enough.notify_all();
  starts.join();
  for (std::thread& other : others) other.join();
  CHECK(most < 1000);
}

TEST_CASE("never more than four threads a core, and never less than one") {
  CHECK(thread_count(1) == 1);
  CHECK(thread_count(INT_MAX) <= 4 * omp_get_num_procs());
  CHECK(thread_count(-1) >= 1);
  CHECK(thread_count() >= 1);
}

TEST_CASE("threads do every piece once") {
  for (const int threads : {1, 2, 3}) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 64U, 65U}) {
      for (const std::size_t chunk : {1U, 3U, 64U, 100U}) {
        std::vector<std::atomic<int>> done(count);
        in_parallel(threads, count, chunk, [&](const Pieces& pieces) {
          CHECK(pieces.thread() < static_cast<std::size_t>(threads));
          for (const std::size_t piece : pieces) ++done[piece];
        });
        for (const std::atomic<int>& times : done) CHECK(times == 1);
      }
    }
  }
}

TEST_CASE("what a thread throws ends the work of all, and is thrown to the caller") {
  std::atomic<bool> thrown = false;
  const auto fail_once = [&](const Pieces& pieces) {
    for (const std::size_t piece : pieces) {
      if (piece == 1000 && !thrown.exchange(true)) throw std::bad_alloc();
    }
  };
  CHECK_THROWS_AS(in_parallel(3, kEndless, 1, fail_once), std::bad_alloc);
  thrown = false;
  CHECK_THROWS_AS(in_parallel(1, kEndless, 7, fail_once), std::bad_alloc);
}

TEST_CASE("memory that a thread lacks before its first piece is told to the caller") {
  const auto fail = [](const Pieces&) { throw std::bad_alloc(); };
  CHECK_THROWS_AS(in_parallel(3, 3, 1, fail), std::bad_alloc);
}
