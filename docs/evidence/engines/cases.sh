#!/bin/sh
# Static, hashed and sprayed routes of the same patterns, measured beside predicted: docs/validation/engines.md.
# 16 hosts on a full tree, then on one with half of its cables up. What is there already is not measured again.
# Needs root and 40 minutes.
set -eu
cd "$(dirname "$0")"
measure() {
  name=$1 engine=$2
  shift 2
  [ ! -e "$name.json" ] || return 0
  contend measure bisect -n 16 --mpi openmpi-4 --on "emulated:xgft:2;4,4;1,$up" --route "$engine" --rate 10Mbit --buffer 100kB \
    --bytes 2MiB --packets 1 --patterns 20 --budget 900s "$@" \
    --output "runs/$name" --messages "$name.csv" --json "$name.json"
}
for up in 4 2; do
  tree=; [ "$up" = 4 ] || tree=half-
  measure "${tree}minhop" minhop
  measure "${tree}spray" spray
  for flows in 1 4 16; do
    measure "${tree}ecmp-$flows" "ecmp,flows=$flows" --launches 4
  done
done
