#!/bin/bash
# Makes the demo's two files again, as they were made: the real OpenSM manages the network on the
# simulator ibsim, the real ibnetdiscover and dump_fts write down what it did.
# Needs, on Debian: opensm ibsim-utils infiniband-diags. Takes some seconds. See README.md.
set -euo pipefail
demo=$(cd "$(dirname "$0")" && pwd)
export PATH=$PATH:/usr/sbin
scratch=$(mktemp -d)
simulator=
clean_up() {
  if [ -n "$simulator" ]; then
    kill "$simulator" 2>/dev/null || true
    wait "$simulator" || true
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT

python3 "$demo/network.py" >"$scratch/elbe.net"
cd "$scratch"
# The socket's name keeps this simulator apart from others on the machine.
export IBSIM_SOCKNAME SIM_HOST="elbe-login1 HCA-1" OSM_TMP_DIR=$scratch OSM_CACHE_DIR=$scratch
IBSIM_SOCKNAME=$(basename "$scratch")
ibsim -s -n elbe.net >ibsim.log 2>&1 &
simulator=$!
until grep -q "simulator ready" ibsim.log; do
  kill -0 "$simulator" || { cat ibsim.log >&2; exit 1; }
  sleep 0.1
done

simulated_device=$(dpkg -L ibsim-utils libumad2sim0 2>/dev/null | grep -m1 'libumad2sim\.so$')
run() {
  LD_PRELOAD=$simulated_device "$@"
}
run opensm -R minhop -o -D 0x47 -f opensm.log >/dev/null
grep -q "minhop tables configured" opensm.log
run ibnetdiscover >elbe.ibnetdiscover
run dump_fts >elbe.lfts
# ibnetdiscover writes the date; without it the file is the same every time.
sed "s/generated on .*/generated on Thu Jan  1 00:00:00 1970/" elbe.ibnetdiscover \
  >"$demo/elbe.ibnetdiscover"
cp elbe.lfts "$demo/elbe.lfts"
