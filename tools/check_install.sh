#!/bin/bash
# Shows that an ordinary `pip install` works: the package built from a source archive in a fresh
# environment, used from outside the checkout. Environment: PYTHON (default python3).
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"${PYTHON:-python3}" -m venv "$scratch/venv"
cd "$scratch"
venv/bin/python -m pip install --quiet --disable-pip-version-check "$checkout"
venv/bin/contend --help >/dev/null
venv/bin/python - "$scratch" <<'END'
import sys

import contend
import contend._core

assert contend.__file__.startswith(sys.argv[1]), contend.__file__
assert contend._core.__file__.startswith(sys.argv[1]), contend._core.__file__
END
echo "pip install works: $(venv/bin/python -m pip show contend | sed -n '1,2s/.*: //p' | xargs)"
