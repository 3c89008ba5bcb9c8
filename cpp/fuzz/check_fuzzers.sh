#!/usr/bin/env bash
# Shows that the fuzzers are worth running: each finds the fault planted in its parser, and finds
# nothing in the parser as it is. Usage: check_fuzzers.sh [SECONDS_CLEAN [SECONDS_PLANTED]]
set -euo pipefail

clean_seconds=${1:-5}
planted_seconds=${2:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() {
  "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
quietly cmake -S "$root" -B "$build" -DCONTEND_FUZZ=ON -DCONTEND_PYTHON=OFF \
  -DCMAKE_CXX_COMPILER="${FUZZ_CXX:-clang++-14}"
quietly cmake --build "$build" -j2

# Small seeds make many runs. The first byte is the size of the pieces that the file is fed in.
seed() {
  local folder=$work/$1
  shift
  mkdir -p "$folder"
  for file in "$@"; do
    { printf '\x3f'; head -n 14 "$file"; } > "$folder/$(basename "$file")"
  done
}
data=$root/tests/data/ibsim
seed ibnetdiscover "$data"/*.ibnetdiscover
seed iblinkinfo "$root"/tests/data/*.iblinkinfo
seed lfts "$data"/*.dump_fts "$data"/*.opensm-lfts
seed fdbs "$data"/*.fdbs
# In a row of one digit two must be added for a port that no switch has, which takes long to find.
sed 's/^\(0x[0-9a-f]*  \)[0-9]  /\1254/; /^Group/,/^2 /d' "$root/tests/data/tiny.far" > "$work/wide.far"
seed far "$root"/tests/data/*.far "$work/wide.far"

# Runs a fuzzer from the seeds; its status is 0 when it found nothing.
fuzz() {
  local program=$1 seconds=$2
  cp -r "$work/$name" "$work/$program"
  log=$work/$program.log
  "$build/cpp/fuzz/$program" "$work/$program" -max_total_time="$seconds" -max_len=1500 -seed=1 \
    -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/$program." \
    > "$log" 2>&1
}
runs() { sed -n 's/^stat::number_of_executed_units: *//p' "$log"; }

failed=0
for name in ibnetdiscover iblinkinfo lfts fdbs far; do
  if fuzz "fuzz_${name}_planted" "$planted_seconds"; then
    echo "fuzz_$name: the planted fault was not found in $planted_seconds s, $(runs) runs"
    failed=1
  elif ! grep -q 'SUMMARY: .*Sanitizer: \|libFuzzer: deadly signal' "$log"; then
    echo "fuzz_$name: the planted build stopped for another reason than its fault"
    tail -20 "$log"
    failed=1
  else
    echo "fuzz_$name: the planted fault was found after $(runs) runs"
  fi
  if fuzz "fuzz_$name" "$clean_seconds"; then
    echo "fuzz_$name: nothing found in $clean_seconds s, $(runs) runs"
  else
    echo "fuzz_$name: found a fault, see $build/fuzz_$name.*"
    tail -40 "$log"
    failed=1
  fi
done
exit $failed
