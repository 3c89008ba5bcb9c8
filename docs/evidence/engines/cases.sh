#!/bin/sh
# Static, hashed and sprayed routes of the same patterns, measured beside predicted: docs/validation/engines.md.
# 16 hosts on a full tree and on one with half the cables up. What is there already is not measured again. Needs root and 40 minutes.
set -eu
cd "$(dirname "$0")"
measure() {
  name=$1 fabric=$2 engine=$3
  shift 3
  [ ! -e "$name.json" ] || return 0
  contend measure bisect -n 16 --mpi openmpi-4 --on "emulated:$fabric" --route "$engine" --rate 10Mbit --buffer 100kB \
    --bytes 2MiB --packets 1 --patterns 20 --budget 900s "$@" \
    --output "runs/$name" --messages "$name.csv" --json "$name.json"
}
for tree in 'full xgft:2;4,4;1,4' 'half xgft:2;4,4;1,2'; do
  measure "${tree% *}-minhop" "${tree#* }" minhop
  measure "${tree% *}-spray" "${tree#* }" spray
  for flows in 1 4 16; do
    measure "${tree% *}-ecmp-$flows" "${tree#* }" "ecmp,flows=$flows" --launches 4
  done
done
