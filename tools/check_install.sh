#!/bin/bash
# Shows that an ordinary `pip install "contend[mpi]"` works: the package as a wheel in a fresh
# environment, used from outside the checkout, without a compiler, and measuring where no MPI library
# is installed but the one that comes with it. tools/check_install.sh [WHEEL] takes a wheel, or builds
# one from source. Environment: PYTHON (default python3).
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
# At the depth of build/dev, so that a compiler's cache finds most objects of it.
build=$checkout/build/installed
rm -rf "$build"
trap 'rm -rf "$scratch" "$build"' EXIT
# Or the checkout could take the place of what is installed.
unset PYTHONPATH PYTHONHOME

"${PYTHON:-python3}" -m venv "$scratch/venv"
wheel=${1:+$(realpath "$1")}
cd "$scratch"
if [ -z "$wheel" ]; then
  venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir built \
    --config-settings build-dir="$build" "$checkout"
  wheel=$(echo "$scratch"/built/*.whl)
fi
venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: "contend[mpi] @ file://$wheel"
venv/bin/contend --help >/dev/null

# All that is in the checkout's package but what is made there: sources of probes, scripts of pages.
lost=$(cd "$checkout/src" && find contend -type f ! -path '*/__pycache__/*' ! -name '_core*' | sort |
  comm -23 - <("$scratch/venv/bin/python" -m zipfile --list "$wheel" | awk '{ print $1 }' | sort))
if [ -n "$lost" ]; then
  echo "the wheel lacks" $lost >&2
  exit 1
fi
venv/bin/python - "$scratch" <<'END'
import sys

import contend
import contend._core

assert contend.__file__.startswith(sys.argv[1]), contend.__file__
assert contend._core.__file__.startswith(sys.argv[1]), contend._core.__file__
END
echo "pip install works: $(venv/bin/python -m pip show contend | sed -n '1,2s/.*: //p' | xargs)"

# Without any program but the shell's own, contend and what the demo calls, so without compilers: all
# but measuring.
mkdir none
ln -s "$(command -v dirname)" "$(command -v mkdir)" "$scratch/venv/bin/contend" none
without_programs() {
  env -i PATH="$scratch/none" HOME="$scratch/home" "$@"
}
without_programs /bin/sh "$checkout/demo/demo.sh" >/dev/null
without_programs venv/bin/contend simulate "$checkout/demo/elbe.ibnetdiscover" \
  --routes "$checkout/demo/elbe.lfts" --samples 100 --plot elbe.html >/dev/null
without_programs venv/bin/python - "$checkout/demo/elbe" <<'END'
import sys

import contend

elbe = contend.load(sys.argv[1] + ".ibnetdiscover", routes=sys.argv[1] + ".lfts")
assert 0.8 < contend.simulate(elbe, samples=100).effective_bandwidth.mean < 0.9
assert "<html" in open("elbe.html", encoding="utf-8").read()
END
without_programs venv/bin/contend doctor --json doctor.json >/dev/null
venv/bin/python - <<'END'
import json

able = {each["name"]: each["usable"] for each in json.load(open("doctor.json"))["abilities"]}
assert able["simulate"] and not able["compile probes"] and not able["measure"], able
print("it runs without a compiler")
END

# A machine with all programs of this one, compilers too, but without its MPI libraries and what
# leads to them.
mkdir bin
for folder in /usr/local/bin /usr/bin /bin; do
  find "$folder" -maxdepth 1 \( -type f -o -type l \) -perm -u+x \
    ! -name '*mpi*' ! -name 'orte*' ! -name 'prte*' ! -name 'hydra*' ! -name 'modulecmd*' \
    ! -name 'update-alternatives' -exec ln -sf -t bin {} +
done
without_mpi() {
  env -i PATH="$scratch/bin" HOME="$scratch/home" "$@"
}
if without_mpi sh -c 'command -v mpicc || command -v mpirun'; then
  echo "MPI is still on PATH" >&2
  exit 1
fi
without_mpi venv/bin/contend mpi --json mpi.json >/dev/null
without_mpi venv/bin/contend measure pingpong -n 2 --bytes 1K --repetitions 10:10 --output run \
  --json run.json >/dev/null
venv/bin/python - "$scratch" <<'END'
import json
import sys

(library,) = (one for one in json.load(open("mpi.json"))["libraries"] if one["usable"])
assert library["wrapper"].startswith(sys.argv[1]), library
measured = json.load(open("run.json"))
assert measured["mpi"]["name"] == "Open MPI", measured["mpi"]
assert all(cell["n"] == 10 and cell["verified"] for cell in measured["cells"]), measured["cells"]
print(f"it measures: {len(measured['cells'])} cell with {library['name']} {library['version']}")
END
