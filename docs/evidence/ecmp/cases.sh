#!/bin/sh
# Hashed routes, measured against simulated draws: "Routes drawn by hashes" in docs/validation/verification.md.
# Trees of 16 hosts with two and three levels; every launch has other connections. The last case has
# tables instead, for what TCP makes of messages of which π is known. Needs root and takes 20 minutes.
set -eu
cd "$(dirname "$0")"
measure() {
  name=$1 fabric=$2
  shift 2
  contend measure bisect -n 16 --mpi openmpi-4 --on "emulated:$fabric" --rate 20Mbit --buffer 100kB \
    --bytes 1MiB --packets 2 --budget 700s "$@" \
    --output "runs/$name" --messages "$name.csv" --json "$name.json" --plot "runs/$name.svg"
}
measure two-levels 'xgft:2;4,4;1,4' --route ecmp --patterns 25 --launches 8
measure three-levels 'xgft:3;4,2,2;1,2,2' --route ecmp --patterns 25 --launches 8
measure tables 'xgft:3;4,2,2;1,2,2' --route dmodk --patterns 100
