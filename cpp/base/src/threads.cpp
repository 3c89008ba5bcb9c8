#include "contend/base/threads.hpp"

#include <sched.h>
#include <sys/stat.h>

#include <cstddef>
#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace contend {
namespace {

constexpr int kLooks = 10'000;

// The kernel counts this process's threads in the links of the folder that lists them.
nlink_t running() {
  struct stat state{};
  return stat("/proc/self/task", &state) == 0 ? state.st_nlink : 0;
}

// Starts threads that wait for one another, and ends them; how many of them there were.
int started_at_once(int wanted) {
  std::latch all(1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(wanted));
  try {
    while (static_cast<int>(threads.size()) < wanted) {
      threads.emplace_back([&all] { all.wait(); });
    }
  } catch (const std::system_error&) {
    // As many as there are now; the same for lack of memory.
  } catch (const std::bad_alloc&) {
  }
  all.count_down();
  for (std::thread& thread : threads) {
    thread.join();
  }
  return static_cast<int>(threads.size());
}

}  // namespace

int startable_threads(int wanted) {
  // The runtime keeps what it has started for every caller.
  thread_local int known = 1;
  if (wanted > known) {
    const nlink_t before = running();
    const int started = 1 + started_at_once(wanted - 1);
    // A thread that was joined counts until the kernel has forgotten it.
    for (int look = 0; look < kLooks && running() > before; ++look) {
      sched_yield();
    }
    known = std::max(known, started);
  }
  return std::min(wanted, known);
}

}  // namespace contend
