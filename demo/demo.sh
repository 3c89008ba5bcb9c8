#!/bin/sh
# Shows what contend says of a small real network; each command is printed before it runs.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/demo

show() {
  echo
  echo "\$ contend $*"
  status=0
  contend "$@" || status=$?
  # 1 says that a check fell short, which is what a check is for.
  [ "$status" -le 1 ] || exit "$status"
}

show fabric show demo/elbe.ibnetdiscover --routes demo/elbe.lfts
show fabric check demo/elbe.ibnetdiscover --routes demo/elbe.lfts
show simulate demo/elbe.ibnetdiscover --routes demo/elbe.lfts --pattern bisect \
  --plot build/demo/bisect.svg
echo
echo "The figure is build/demo/bisect.svg"
