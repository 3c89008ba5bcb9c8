#include "contend/base/interruption.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>

#include "contend/base/threads.hpp"

using namespace contend;

namespace {

constexpr std::size_t kMorePieces = std::size_t{1} << 62;
constexpr std::chrono::nanoseconds kAtOnce{0};

struct Enough {};

thread_local int asked = 0;

void ask() { ++asked; }
void ask_thrice() {
  if (++asked == 3) throw Enough();
}

[[noreturn]] void loop() {
  for (;;) check_interruption();
}

}  // namespace

TEST_CASE("a loop asks until the answer ends it") {
  asked = 0;
  const Interruption interruption(ask_thrice, kAtOnce);
  CHECK_THROWS_AS(loop(), Enough);
  CHECK(asked == 3);
}

TEST_CASE("nobody asks where nobody wants to know, nor before the time has come") {
  check_interruption();
  asked = 0;
  const Interruption interruption(ask, std::chrono::hours(1));
  for (int n = 0; n < 1000; ++n) check_interruption();
  CHECK(asked == 0);
}

TEST_CASE("the innermost question counts") {
  asked = 0;
  const Interruption outer(ask_thrice, kAtOnce);
  {
    const Interruption inner(ask, kAtOnce);
    for (int n = 0; n < 10; ++n) check_interruption();
    CHECK(asked == 10);
  }
  asked = 0;
  CHECK_THROWS_AS(loop(), Enough);
}

TEST_CASE("threads that share work end with the one that asks, in the middle of a piece too") {
  for (const int threads : {1, 2, 3}) {
    asked = 0;
    const Interruption interruption(ask_thrice, kAtOnce);
    CHECK_THROWS_AS(in_parallel(threads, kMorePieces, 1,
                                [](const Pieces& pieces) {
                                  for ([[maybe_unused]] const std::size_t piece : pieces) {
                                  }
                                }),
                    Enough);
    asked = 0;
    // The caller asks; the others are in pieces that never end.
    CHECK_THROWS_AS(in_parallel(threads, kMorePieces, 1,
                                [](const Pieces& pieces) {
                                  for (const std::size_t piece : pieces) {
                                    if (pieces.thread() > 0 || piece > 10) loop();
                                  }
                                }),
                    Enough);
    CHECK(asked == 3);
  }
}
