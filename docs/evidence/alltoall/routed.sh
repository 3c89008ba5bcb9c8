#!/bin/sh
# All schedules in turns on trees routed by minhop with scattered ranks, beside their predictions: the
# cases of "Phases that know the routes" in docs/validation/tuned.md. "routed.sh predict" writes what is
# predicted, from the calibration here; "routed.sh measure" measures the same and puts it beside; a
# name after it takes that case alone. Needs root and takes forty minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# Named as it is kept beside the results, wherever they are.
cmp -s "$here/scattered.hosts" scattered.hosts || cp "$here/scattered.hosts" .
most="library,linear,scattered,shift,shift-barrier,xor,routed,routed-barrier"
rto=200ms only=${2:-}
all="$most,inflight,one-factor"

each() {
  "$1" routed "xgft:2;4,4;1,4" "$all" 6 -n 16 --rate 20Mbit --buffer 200kB
  "$1" routed-small "xgft:2;4,4;1,4" "$most" 3 -n 16 --rate 18Mbit --buffer 20kB
  # Stands for 1 Gbit/s: 62.5 times slower, so time-outs last as much longer than 200 ms.
  rto=12.5s
  "$1" routed-gigabit "xgft:2;4,4;1,4" "$all" 3 -n 16 --rate 16Mbit --buffer 100kB
}

predict() {
  name=$1 fabric=$2 schedules=$3
  shift 4
  [ "${only:-$name}" = "$name" ] || return 0
  contend predict alltoall "$fabric" "$@" --bytes 256K --route minhop \
    --placement file:scattered.hosts --algorithm "$schedules" \
    --calibration "$here/calibration.json" --json "$here/predicted-$name.json"
}

measure() {
  name=$1 fabric=$2 schedules=$3 samples=$4
  shift 4
  [ "${only:-$name}" = "$name" ] || return 0
  contend measure alltoall --on "emulated:$fabric" "$@" --rto-min "$rto" --bytes 256K --route minhop \
    --placement file:scattered.hosts --algorithm "$schedules" --start clock --launches 3 \
    --repetitions "$samples:$samples" --budget 20min --output "runs/$name"
  contend predict alltoall "$fabric" "$@" --bytes 256K --route minhop \
    --placement file:scattered.hosts --algorithm "$schedules" \
    --calibration "$here/calibration.json" --measured "runs/$name" \
    --json "$here/compared-$name.json" --plot "runs/$name.png"
}

each "$1"
