#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include "contend/base/interruption.hpp"
#include "contend/base/progress.hpp"

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

/// Pieces of work, numbered from 0, that threads take in runs of `chunk` until none is left or one
/// of the threads has failed.
class SharedWork {
 public:
  /// `threads`, of which this is one, take it in so many runs.
  SharedWork(std::size_t count, std::size_t chunk, std::size_t runs, int threads)
      : count_(count), chunk_(chunk), runs_(runs, static_cast<std::uint64_t>(threads)) {}

  std::size_t count() const { return count_; }
  const std::atomic<bool>& ended() const { return ended_; }

  /// The first piece of the next run; the one behind its last is left in `end`.
  std::size_t take(std::size_t& end) {
    const std::size_t first = std::min(next_.fetch_add(chunk_), count_);
    end = std::min(first + chunk_, count_);
    return first;
  }

  /// A run is done.
  void done() { runs_.done(); }

  /// In a handler of exceptions: keeps what was thrown first, and ends the work of all.
  void fail() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    ended_ = true;
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t count_;
  std::size_t chunk_;
  Progress runs_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// The pieces that come to one thread: `for (const std::size_t piece : pieces)`. Before every piece
/// the thread looks whether the work goes on.
class Pieces {
 public:
  Pieces(SharedWork& work, int thread) : work_(work), thread_(thread) {}

  /// Below the number of threads.
  std::size_t thread() const { return static_cast<std::size_t>(thread_); }

  struct End {};
  class Iterator {
   public:
    explicit Iterator(SharedWork& work) : work_(work) {
      take();
      look();
    }
    std::size_t operator*() const { return piece_; }
    Iterator& operator++() {
      run_->done();
      if (++piece_ == end_) {
        work_.done();
        take();
      }
      look();
      return *this;
    }
    bool operator!=(End) const { return piece_ != work_.count(); }

   private:
    void take() {
      run_.reset();
      piece_ = work_.take(end_);
      run_.emplace(end_ - piece_);
    }
    void look() const {
      if (piece_ != work_.count()) check_interruption();
    }

    SharedWork& work_;
    std::size_t end_ = 0;
    std::size_t piece_ = 0;
    std::optional<Progress> run_;
  };
  Iterator begin() const { return Iterator(work_); }
  End end() const { return {}; }

 private:
  SharedWork& work_;
  int thread_;
};

/// Shares `count` pieces between at most `threads` threads: each calls work(Pieces&) once, which
/// may prepare what the thread needs and then takes the pieces. What one of them throws, for lack
/// of memory or because the caller's Interruption says so, ends the others at their next piece, and
/// is thrown again here: an exception that left a parallel region would end the program.
template <class Work>
void in_parallel(int threads, std::size_t count, std::size_t chunk, const Work& work) {
  const std::size_t runs = count / chunk + (count % chunk > 0 ? 1 : 0);
  const int used = static_cast<int>(
      std::clamp<std::size_t>(runs, 1, static_cast<std::size_t>(std::max(threads, 1))));
  SharedWork shared(count, chunk, runs, used);
#pragma omp parallel num_threads(used)
  {
    try {
      const EndsWith end(shared.ended());
      Pieces pieces(shared, omp_get_thread_num());
      work(pieces);
    } catch (...) {
      shared.fail();
    }
  }
  shared.rethrow();
}

}  // namespace contend
