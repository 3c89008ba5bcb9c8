#!/bin/sh
# A spine that died, measured against predictions: "A spine less" in docs/validation/verification.md.
# tree.ibnetdiscover is xgft:2;4,4;1,3 and tree.lfts its tables by dmodk. Needs root and takes ten minutes.
set -eu
cd "$(dirname "$0")"
for routes in '--routes tree.lfts' '--route dmodk'; do
  name=$([ "$routes" = '--route dmodk' ] && echo rerouted || echo mended)
  contend measure bisect -n 16 --mpi openmpi-4 --on emulated:tree.ibnetdiscover $routes --without 'top 1' \
    --rate 40Mbit --buffer 100kB --patterns 60 --bytes 1MiB --packets 8 --budget 500s \
    --output "runs/$name" --messages "$name.csv" --json "$name.json"
done
