#!/bin/sh
# Links of two rates, measured against predictions: "Links of different rates" in docs/validation/verification.md.
# mixed.ibnetdiscover is xgft:2;4,4;1,2 with hosts and one spine at 4xQDR, and the other spine and two
# hosts at 4xDDR. Needs root and takes four minutes.
set -eu
cd "$(dirname "$0")"
contend measure bisect -n 16 --on emulated:mixed.ibnetdiscover --route dmodk --rate 40Mbit \
  --patterns 50 --bytes 1MiB --packets 4 --budget 280s \
  --output runs/bisect --messages bisect.csv --json bisect.json
