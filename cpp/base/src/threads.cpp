#include "contend/base/threads.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <latch>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace contend {
namespace {

// Far longer than a thread takes to end, should the kernel have given its number away again.
constexpr std::chrono::milliseconds kPatience{1000};

// A thread that was joined counts against limits until the kernel has forgotten its number.
void wait_until_forgotten(pid_t thread) {
  const std::string entry = "/proc/self/task/" + std::to_string(thread);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (access(entry.c_str(), F_OK) == 0 && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
  }
}

// Starts threads that wait for one another, and ends them; how many of them there were.
int started_at_once(int wanted) {
  std::latch all(1);
  std::vector<std::thread> threads;
  std::vector<pid_t> numbers(static_cast<std::size_t>(wanted));
  threads.reserve(numbers.size());
  try {
    while (threads.size() < numbers.size()) {
      threads.emplace_back([&all, &number = numbers[threads.size()]] {
        // glibc before 2.30 has no gettid().
        number = static_cast<pid_t>(syscall(SYS_gettid));
        all.wait();
      });
    }
  } catch (const std::system_error&) {
    // As many as there are now; the same for lack of memory.
  } catch (const std::bad_alloc&) {
  }
  all.count_down();
  for (std::thread& thread : threads) thread.join();
  numbers.resize(threads.size());
  for (const pid_t number : numbers) wait_until_forgotten(number);
  return static_cast<int>(threads.size());
}

}  // namespace

int startable_threads(int wanted) {
  // The runtime keeps what it has started for every caller.
  thread_local int known = 1;
  if (wanted > known) {
    known = std::max(known, 1 + started_at_once(wanted - 1));
  }
  return std::min(wanted, known);
}

}  // namespace contend
