#include "timing/waiting.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>

#include "common/ranks.hpp"
#include "timing/clock.hpp"

namespace contend::probe {

namespace {

// How long before an instant a sleeper wakes up, and a yielding rank begins to watch the clock.
constexpr std::int64_t kWakeUp = 100'000;
constexpr std::int64_t kWatch = 5'000;
constexpr std::int64_t kLongestNap = 1'000'000;

// A property of the machine that is found once, before anything is measured.
bool& stored_crowded() {
  static bool crowded = false;
  return crowded;
}

void nap(std::int64_t nanoseconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  time.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  nanosleep(&time, nullptr);
}

bool done(MPI_Request& request, MPI_Status& status) {
  int flag = 0;
  CHECKED(MPI_Test, &request, &flag, &status);
  return flag != 0;
}

// Gives the processor away between looks: at first to whoever shares it by right, which costs
// little. That does nothing where the kernel counts every rank as a session of its own, as MPICH's
// launcher makes them: there a rank must sleep to let others run.
class Patience {
 public:
  void wait() {
    if (looks_ < kYields) {
      ++looks_;
      sched_yield();
    } else {
      nap(kNap);
    }
  }

 private:
  static constexpr int kYields = 100;
  static constexpr std::int64_t kNap = 100'000;

  int looks_ = 0;
};

}  // namespace

void set_crowded(bool crowded) {
  stored_crowded() = crowded;
  // Without this every nap takes 50 us longer than asked for. Where it fails, it does.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

bool crowded() { return stored_crowded(); }

void wait(MPI_Request& request) {
  MPI_Status status;
  wait(request, status);
}

void wait(MPI_Request& request, MPI_Status& status) {
  if (!crowded()) {
    CHECKED(MPI_Wait, &request, &status);
    return;
  }
  for (Patience patience; !done(request, status);) {
    patience.wait();
  }
}

void wait_all(std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  if (!crowded()) {
    CHECKED(MPI_Waitall, count, requests.data(), MPI_STATUSES_IGNORE);
    return;
  }
  for (Patience patience;;) {
    int flag = 0;
    CHECKED(MPI_Testall, count, requests.data(), &flag, MPI_STATUSES_IGNORE);
    if (flag != 0) {
      return;
    }
    patience.wait();
  }
}

int wait_any(std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  int index = MPI_UNDEFINED;
  if (!crowded()) {
    CHECKED(MPI_Waitany, count, requests.data(), &index, MPI_STATUS_IGNORE);
    return index;
  }
  for (Patience patience;;) {
    int flag = 0;
    CHECKED(MPI_Testany, count, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
    if (flag != 0) {
      return index;
    }
    patience.wait();
  }
}

void wait_asleep(MPI_Request& request) {
  std::int64_t length = 20'000;
  MPI_Status status;
  while (!done(request, status)) {
    nap(length);
    length = std::min(length * 2, kLongestNap);
  }
}

void pass_barrier(MPI_Comm comm) {
  if (!crowded()) {
    CHECKED(MPI_Barrier, comm);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibarrier, comm, &request);
  wait(request);
}

void wait_until(std::int64_t local_ns) {
  for (;;) {
    const std::int64_t left = local_ns - local_now();
    if (left <= 0) {
      return;
    }
    if (crowded() && left > kWakeUp) {
      nap(left - kWakeUp);
    } else if (crowded() && left > kWatch) {
      sched_yield();
    }
  }
}

}  // namespace contend::probe
