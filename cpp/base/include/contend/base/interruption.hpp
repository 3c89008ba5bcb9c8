#pragma once

#include <atomic>
#include <chrono>
#include <exception>

namespace contend {

/// Thrown where work is no longer wanted. Between threads that share work it stays inside; see
/// in_parallel().
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "the work was interrupted"; }
};

/// Every loop that can last calls this between pieces of at most some milliseconds. Throws what the
/// thread's Interruption throws, or Interrupted where the threads that share the work end.
/// Cost: about ten nanoseconds.
void check_interruption();

/// While it lives, check_interruption() on this thread asks a question now and then, which throws
/// to end the work. Of several the innermost counts.
class Interruption {
 public:
  using Question = void (*)();
  /// A fifth of what a person notices, and rare enough to cost nothing.
  static constexpr std::chrono::milliseconds kInterval{50};

  explicit Interruption(Question ask, std::chrono::nanoseconds interval = kInterval);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  friend void check_interruption();

  Question ask_;
  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds next_;
  Interruption* outer_;
};

/// While it lives, check_interruption() on this thread throws Interrupted once `ended` is true.
class EndsWith {
 public:
  explicit EndsWith(const std::atomic<bool>& ended);
  ~EndsWith();
  EndsWith(const EndsWith&) = delete;
  EndsWith& operator=(const EndsWith&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

}  // namespace contend
