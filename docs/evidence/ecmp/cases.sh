#!/bin/sh
# Hashed routes, measured against simulated draws: "Routes drawn by hashes" in docs/verification.md.
# Trees of 16 hosts with two and three levels; every launch has other connections. Needs root and takes
# 20 minutes.
set -eu
cd "$(dirname "$0")"
measure() {
  contend measure bisect -n 16 --mpi openmpi-4 --on "emulated:$2" --route ecmp --rate 20Mbit \
    --buffer 100kB --patterns 25 --launches 8 --bytes 1MiB --packets 2 --budget 700s \
    --output "runs/$1" --messages "$1.csv" --json "$1.json" --plot "$1.svg"
}
measure two-levels 'xgft:2;4,4;1,4'
measure three-levels 'xgft:3;4,2,2;1,2,2'
