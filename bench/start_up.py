"""How long contend takes to start, as a multiple of ``import numpy`` in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
import time

ROUNDS = 10
NUMPY = "import numpy"
MAIN = "from contend.cli import main; main()"
COMMANDS = {
    "contend --help": ["--help"],
    "contend fabric show fig1": ["fabric", "show", "fig1"],
    "contend simulate fig1 --samples 1": ["simulate", "fig1", "--samples", "1"],
}


def seconds(code: str, *arguments: str) -> float:
    """One start of Python, from exec to its end."""
    # As any user's: what was compiled once is kept.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    return time.perf_counter() - started


def main() -> None:
    """Takes turns, and of all rounds the best, as machines change pace."""
    best = dict.fromkeys([NUMPY, *COMMANDS], float("inf"))
    for _ in range(ROUNDS):
        best[NUMPY] = min(best[NUMPY], seconds(NUMPY))
        for name, arguments in COMMANDS.items():
            best[name] = min(best[name], seconds(MAIN, *arguments))
    print(f"{'python -c ' + repr(NUMPY):40} {1e3 * best[NUMPY]:6.0f} ms")
    for name in COMMANDS:
        print(f"{name:40} {1e3 * best[name]:6.0f} ms  {best[name] / best[NUMPY]:5.2f} of it")


if __name__ == "__main__":
    main()
