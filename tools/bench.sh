#!/bin/bash
# Builds the core's benchmarks in Release and runs them and those in bench/, under one header.
# BASE=COMMIT runs each of the core's also as of that commit, right beside, as machines change pace.
# Environment: CMAKE (default cmake), PYTHON (default python3), CXX, JOBS, BASE.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { # source folder, build folder
  "${CMAKE:-cmake}" -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release \
    -DCONTEND_PYTHON=OFF -DCONTEND_BENCH=ON >/dev/null
  "${CMAKE:-cmake}" --build "$2" --parallel "${JOBS:-2}" >/dev/null
}

build . build/bench
if [ -n "${BASE:-}" ]; then
  rm -rf build/bench-base/source
  mkdir -p build/bench-base/source
  git archive "$BASE" | tar -x -C build/bench-base/source
  build build/bench-base/source build/bench-base/build
fi

echo "machine   $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores," \
  "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
echo "compiler  $("${CXX:-c++}" --version | head -1)"
echo "commit    $(git describe --always --dirty 2>/dev/null || echo unknown)" \
  "${BASE:+compared with $(git rev-parse --short "$BASE")}"

# What the core's benchmarks run on; made once.
export CONTEND_BENCH_FABRICS=build/bench/fabrics
"${PYTHON:-python3}" tools/bench_fabrics.py "$CONTEND_BENCH_FABRICS"

ran=0
for source in cpp/bench/*.cpp; do
  name=$(basename "$source" .cpp)
  program=build/bench/cpp/$name
  [ -x "$program" ] || continue
  echo "--- $name"
  "$program"
  before=build/bench-base/build/cpp/$name
  if [ -n "${BASE:-}" ] && [ -x "$before" ]; then
    echo "--- $name as of $BASE"
    "$before"
  fi
  ran=$((ran + 1))
done
for script in bench/*.py; do
  [ -f "$script" ] || continue
  echo "--- $(basename "$script" .py)"
  "${PYTHON:-python3}" "$script"
  ran=$((ran + 1))
done
echo "--- $ran benchmarks run"
