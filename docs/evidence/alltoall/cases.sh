#!/bin/sh
# The cases of docs/validation/alltoall-times.md. "cases.sh predict" writes what is predicted, from a calibration on a
# crossbar of four hosts that sees none of them; "cases.sh measure" measures the same and puts it
# beside; "each", "others" or "unseen" after it takes part of them. Needs root and takes an hour.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what="-n 16 --algorithm shift,shift-barrier,linear,xor --bytes 4K:1M"
# The faster cables are, the more the turns count that 16 ranks take on two processors.
cables="--rate 16Mbit --buffer 4MB"
# Named as it is kept beside the results, wherever they are.
cmp -s "$here/scattered.hosts" scattered.hosts || cp "$here/scattered.hosts" .

each() {
  "$1" crossbar:16 crossbar
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
  contend measure alltoall --on "emulated:$fabric" --mpi openmpi-4 $what $cables "$@" --start clock --repetitions 5:5 \
    --budget 25min --output "runs/$name"
  contend predict alltoall "$fabric" $what $cables "$@" --calibration "$here/calibration.json" \
    --measured "runs/$name" --json "$here/compared-$name.json" --plot "runs/$name.png"
}

# Other shapes, numbers of ranks and rates than the model's present form was made with.
unseen() (
  what="-n 16 --algorithm shift,shift-barrier,linear,xor --bytes 4K:256K"
  "$1" "hyperx:2x4;2" hyperx --route contend --placement spread
  what="-n 15 --algorithm shift,shift-barrier,linear --bytes 4K:256K"
  cables="--rate 14Mbit --buffer 4MB"
  "$1" "xgft:2;3,5;1,2" fifteen --route minhop
  what="-n 12 --algorithm shift,shift-barrier,linear --bytes 4K:1M"
  cables="--rate 16Mbit --buffer 4MB"
  "$1" "xgft:2;4,4;1,2" scattered-twelve --route updn --placement file:scattered.hosts
)

# Those which showed what former ones lacked, or which it was held against before.
others() (
  what="-n 16 --algorithm shift,shift-barrier,linear,xor --bytes 4K:256K"
  "$1" dragonfly:2,4,1,2 dragonfly --route contend
  "$1" "xgft:2;4,4;1,2" narrow --route dmodk
  "$1" torus:4x4 torus --route contend
  "$1" "xgft:2;4,4;1,3" three --route minhop
  "$1" random:8,3,2,5 sparse --route contend
  what="-n 14 --algorithm shift,shift-barrier,linear --bytes 4K:256K"
  cables="--rate 20Mbit --buffer 4MB"
  "$1" random:7,4,2,3 random --route contend
  what="-n 12 --algorithm shift,shift-barrier,linear --bytes 4K:256K"
  "$1" torus:3x4 small-torus --route contend
  what="-n 9 --algorithm shift,shift-barrier,linear --bytes 4K:512K" cables="--rate 12Mbit --buffer 4MB"
  "$1" crossbar:9 nine
  what="-n 12 --algorithm shift,shift-barrier,linear --bytes 4K:1M" cables="--rate 25Mbit --buffer 4MB"
  "$1" crossbar:12 twelve
  what="-n 16 --algorithm shift-barrier,xor,shift --bytes 4K:64K" cables="--rate 8Mbit --buffer 4MB"
  "$1" "hyperx:2x4;2" hyperx-slow --route contend --placement spread
)

small() (
  what="-n 16 --algorithm shift,linear --bytes 8K:64K" cables="--rate 16Mbit --buffer 100kB"
  "$1" fig1 buffers
)

if [ "${2:-unseen}" = unseen ]; then
  unseen "$1"
fi
if [ "${2:-others}" = others ]; then
  others "$1"
fi
if [ "${2:-each}" = each ]; then
  each "$1"
  small "$1"
fi
