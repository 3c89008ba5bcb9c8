#!/bin/sh
# The cases of docs/predict.md. "cases.sh predict" writes what is predicted, from a calibration on a
# crossbar of four hosts that sees none of them; "cases.sh measure" measures the same and puts it
# beside. Needs root and takes an hour.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what="-n 16 --algorithm shift,shift-barrier,linear,xor --bytes 4K:1M"
# The faster cables are, the more the turns count that 16 ranks take on two processors.
cables="--rate 16Mbit --buffer 4MB"
# Named as it is kept beside the results, wherever they are.
cmp -s "$here/scattered.hosts" scattered.hosts || cp "$here/scattered.hosts" .

each() {
  "$1" crossbar:16 crossbar
  "$1" fig1 fig1
  "$1" "xgft:2;4,4;1,4" dmodk --route dmodk
  "$1" "xgft:2;4,4;1,4" scattered --route minhop --placement file:scattered.hosts
}

predict() {
  fabric=$1 name=$2
  shift 2
  contend predict alltoall "$fabric" $what $cables "$@" --calibration "$here/calibration.json" \
    --json "$here/predicted-$name.json"
}

measure() {
  fabric=$1 name=$2
  shift 2
  contend measure alltoall --on "emulated:$fabric" --mpi openmpi-4 $what $cables "$@" --repetitions 5:5 \
    --budget 25min --output "runs/$name"
  contend predict alltoall "$fabric" $what $cables "$@" --calibration "$here/calibration.json" \
    --measured "runs/$name" --json "$here/compared-$name.json" --plot "runs/$name.png"
}

small() {
  "$1" fig1 buffers
}

each "$1"
what="-n 16 --algorithm shift,linear --bytes 8K:64K" cables="--rate 16Mbit --buffer 100kB"
small "$1"
