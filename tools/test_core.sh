#!/bin/sh
# Builds and runs the core's tests under the address and undefined-behaviour sanitizers.
# Skips, saying why, where doctest or the sanitizers are not installed; with CONTEND_REQUIRE_ALL=1
# that is a failure. Environment: CMAKE (default cmake), CXX, JOBS, CONTEND_OUTCOMES (a file to which
# a line is added as tests/conftest.py does, for all of them together).
set -eu
cd "$(dirname "$0")/.."
build=build/core-tests

outcome() {
  [ -z "${CONTEND_OUTCOMES-}" ] || echo "$1 the core's C++ tests" >>"$CONTEND_OUTCOMES"
}

skip() {
  echo "SKIPPED the core's C++ tests: $1" >&2
  if [ "${CONTEND_REQUIRE_ALL:-0}" != 0 ]; then
    outcome failed
    exit 1
  fi
  outcome skipped
  exit 0
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo '#include <doctest/doctest.h>' >"$scratch/doctest.cpp"
${CXX:-c++} -std=c++20 -c "$scratch/doctest.cpp" -o "$scratch/doctest.o" 2>/dev/null ||
  skip "the doctest headers are not installed (Debian: doctest-dev)"
echo 'int main() {}' >"$scratch/sanitized.cpp"
${CXX:-c++} -fsanitize=address,undefined "$scratch/sanitized.cpp" -o "$scratch/sanitized" \
  2>/dev/null || skip "the compiler lacks its address and undefined-behaviour sanitizers"

cmake=${CMAKE:-cmake}
# Little optimisation: compiling takes ten times as long as all tests.
"$cmake" -S . -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
  -DCONTEND_PYTHON=OFF -DCONTEND_TESTS=ON -DCONTEND_SANITIZE=ON >"$scratch/configure.log" ||
  { cat "$scratch/configure.log" >&2; exit 1; }
"$cmake" --build "$build" --parallel "${JOBS:-2}"
if ! "$build/cpp/contend_tests"; then
  outcome failed
  exit 1
fi
outcome passed
