#!/bin/sh
# All schedules in turns on a tree routed by minhop with scattered ranks, beside their predictions: the
# case of "Phases that know the routes" in docs/probes.md. "routed.sh predict" writes what is
# predicted, from the calibration here; "routed.sh measure" measures the same and puts it beside. Needs
# root and takes a quarter of an hour.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# Named as it is kept beside the results, wherever they are.
cmp -s "$here/scattered.hosts" scattered.hosts || cp "$here/scattered.hosts" .
fabric="xgft:2;4,4;1,4"
what="-n 16 --bytes 256K --route minhop --rate 20Mbit --buffer 200kB"
others="library,linear,scattered,inflight,shift,shift-barrier,xor,one-factor"

predict() {
  contend predict alltoall "$fabric" $what --placement file:scattered.hosts \
    --algorithm "$others,routed,routed-barrier" --calibration "$here/calibration.json" "$@"
}

case $1 in
predict) predict --json "$here/predicted-routed.json" ;;
measure)
  contend measure alltoall --on "emulated:$fabric" $what \
    --placement file:scattered.hosts --algorithm "$others,routed,routed-barrier" \
    --launches 3 --repetitions 6:6 --budget 20min --output runs/routed
  predict --measured runs/routed --json "$here/compared-routed.json" --plot runs/routed.png
  ;;
esac
