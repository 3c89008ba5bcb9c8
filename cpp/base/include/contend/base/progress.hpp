#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "contend/base/interruption.hpp"

namespace contend {

/// How far some work is, for who looks while it runs: parts that take about as long as each other.
/// What a thread begins while it does a part of other work belongs to that part.
class Progress {
 public:
  /// `at_once`: how many parts threads do side by side; the others are taken to be as far with
  /// theirs as this thread is. 0 where each is told when it begins.
  explicit Progress(std::uint64_t parts, std::uint64_t at_once = 1);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many parts more are done. Any thread may say so.
  void done(std::uint64_t parts = 1) { done_.fetch_add(parts, std::memory_order_relaxed); }
  /// Ends what was begun so before, and begins what takes as long as so many parts together.
  void begin(std::uint64_t parts) { done(std::exchange(at_once_, parts)); }

 private:
  friend double share_done();

  double within(double share) const;

  std::uint64_t parts_;
  std::uint64_t at_once_;
  std::atomic<std::uint64_t> done_{0};
  Progress* outer_;
  double seen_ = 0;  ///< the largest share that was told, where this is the outermost
};

/// What share is done, from 0 to 1, of the work that this thread began first; below 0 where it
/// does none. It never falls while that work goes on, as others may be less far than is taken.
double share_done();

/// The numbers below `count`, each a part of some work before which it can be interrupted:
/// `for (const std::size_t k : InParts(count))`.
template <class Number>
class InParts {
 public:
  explicit InParts(Number count) : count_(count), progress_(count) {}

  struct End {};
  class Iterator {
   public:
    explicit Iterator(InParts& parts) : parts_(parts) { look(); }
    Number operator*() const { return part_; }
    Iterator& operator++() {
      ++part_;
      parts_.progress_.done();
      look();
      return *this;
    }
    bool operator!=(End) const { return part_ != parts_.count_; }

   private:
    void look() const {
      if (part_ != parts_.count_) check_interruption();
    }

    InParts& parts_;
    Number part_ = 0;
  };
  Iterator begin() { return Iterator(*this); }
  End end() { return {}; }

 private:
  Number count_;
  Progress progress_;
};

}  // namespace contend
