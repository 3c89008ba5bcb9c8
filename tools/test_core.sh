#!/bin/sh
# Builds and runs the core's tests under the address and the undefined-behaviour sanitizer. Nothing is
# optimised: compiling takes longer than all tests, no function is inlined, and a type that is
# defined twice fails the build. Skips, saying why, where doctest or the sanitizers are not
# installed; with CONTEND_REQUIRE_ALL=1 that is a failure. Environment: CMAKE (default cmake), CXX,
# JOBS, CONTEND_OUTCOMES (a file to which a line is added as tests/conftest.py does, for all of them
# together).
set -eu
cd "$(dirname "$0")/.."
cmake=${CMAKE:-cmake}
cxx=${CXX:-c++}

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

# Exceptions must not leave a parallel region: in_parallel() is the only one.
if grep -rn --include='*.[ch]pp' '#pragma omp' cpp | grep -v '^cpp/base/include/contend/base/threads.hpp:\|^cpp/bench/'; then
  echo "parallel regions outside in_parallel()" >&2
  exit 1
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo '#include <doctest/doctest.h>' >"$scratch/doctest.cpp"
$cxx -std=c++20 -c "$scratch/doctest.cpp" -o "$scratch/doctest.o" 2>/dev/null ||
  skip "the doctest headers are not installed (Debian: doctest-dev)"
echo 'int main() {}' >"$scratch/sanitized.cpp"
$cxx -fsanitize=address,undefined "$scratch/sanitized.cpp" -o "$scratch/sanitized" \
  2>/dev/null || skip "the compiler lacks its address and undefined-behaviour sanitizers"

# The check finds a type that is defined twice, and lets pass one that is defined once.
echo 'struct Twice { KIND member; }; KIND NAME(Twice* twice) { return twice->member; }' \
  >"$scratch/twice.cpp"
echo 'int main() {}' >"$scratch/main.cpp"
link() {
  $cxx -flto -Wodr "-DKIND=$1" -DNAME=one -c "$scratch/twice.cpp" -o "$scratch/one.o" 2>/dev/null &&
    $cxx -flto -Wodr "-DKIND=$2" -DNAME=other -c "$scratch/twice.cpp" -o "$scratch/other.o" 2>/dev/null &&
    $cxx -flto=auto -Wodr -Werror "$scratch/main.cpp" "$scratch/one.o" "$scratch/other.o" \
      -o "$scratch/linked" 2>/dev/null
}
one_definition=ON
if ! link int int || link int double; then
  echo "SKIPPED the check for types that are defined twice: $cxx -flto -Wodr does not see them" >&2
  [ "${CONTEND_REQUIRE_ALL:-0}" = 0 ] || exit 1
  one_definition=OFF
fi

build=build/core-tests
flags="-O0 -g1"
"$cmake" -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="$flags" \
  -DCMAKE_CXX_FLAGS_DEBUG="$flags" -DCONTEND_PYTHON=OFF -DCONTEND_TESTS=ON \
  -DCONTEND_SANITIZE=address,undefined -DCONTEND_ONE_DEFINITION=$one_definition \
  >"$scratch/configure.log" || { cat "$scratch/configure.log" >&2; exit 1; }
"$cmake" --build "$build" --parallel "${JOBS:-2}"
"$build/cpp/contend_tests" || {
  outcome failed
  exit 1
}
outcome passed
