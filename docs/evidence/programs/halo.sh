#!/bin/sh
# A halo exchange and LAMMPS on trees with few cables: the table of docs/validation/program-times.md. Calibrates on
# crossbar:4, records each program once on crossbar:16, predicts, and measures in three turns. Usage:
# halo.sh FOLDER, which has LAMMPS's melt.in of cases.py with 20 steps. Needs root and 15 minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
cables="--rate 10Mbit --buffer 1MB" scattered="--placement file:$here/scattered.hosts"
lammps="lmp -in melt.in -log none -screen none"
mpicc.openmpi -O2 -o halo "$here/halo.c"

each() {
  "$1" halo-16k narrow "./halo 16384 80 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-30k narrow "./halo 30000 30 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-60k narrow "./halo 60000 24 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-100k narrow "./halo 100000 14 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-120k narrow "./halo 120000 14 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-150k narrow "./halo 150000 8 10000" "xgft:2;4,4;1,1" --route dmodk
  "$1" halo-100k-short two-scattered "./halo 100000 10 10000" "xgft:2;4,4;1,2" --route dmodk $scattered
  "$1" lammps narrow "$lammps" "xgft:2;4,4;1,1" --route dmodk
  "$1" lammps narrow-scattered "$lammps" "xgft:2;4,4;1,1" --route dmodk $scattered
  "$1" lammps minhop-scattered "$lammps" "xgft:2;4,4;1,4" --route minhop $scattered
}

profile() {
  folder=$1 program=$2 fabric=$3
  shift 3
  [ -e "$folder" ] || contend profile -n 16 --ranks-per-host 1 --on "emulated:$fabric" --mpi openmpi-4 $cables "$@" \
    --output "$folder" -- $program
}

predict() {
  name=$1 place=$2 program=$3 fabric=$4
  shift 4
  profile "$name" "$program" crossbar:16
  contend predict "$name" "$fabric" "$@" $cables --calibration costs --json "$name-$place.json"
}

measure() {
  name=$1 place=$2 program=$3 fabric=$4
  shift 4
  profile "$name-$place-$turn" "$program" "$fabric" "$@"
}

contend calibrate --on emulated:crossbar:4 --mpi openmpi-4 --rate 20Mbit --buffer 1MB --output costs
each predict
for turn in 0 1 2; do each measure; done
