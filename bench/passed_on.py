"""What the drop-in all-to-all adds to a call that its rules do not cover, launches in turns.

CONTEND_BENCH_MPI names the library, as `--mpi` does.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from contend.base.errors import ContendError
from contend.cure import Rule, Rules, write_rules
from contend.lab.mpi import Library, carry, launch_environment, select

TURNS = 11
# For other bytes, and for the same bytes of other ranks.
CASES = {
    "other bytes": Rule((1, 64), (1, 64), (1024, 4096), "shift"),
    "other ranks": Rule((16, 16), (1, 1), (0, 4096), "shift"),
}
CALLS = ("MPI_Alltoall", "MPI_Alltoallv")


def nanoseconds(program: Path, library: Library, more: Mapping[str, str]) -> list[float]:
    """Medians of one launch's batches, of each routine."""
    environment = {**launch_environment(library.environment), **more}
    command = [library.launcher, "-n", "1", str(program)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = [line for line in ended.stdout.splitlines() if line[:1].isdigit()]
    return [float(line.split()[0]) for line in lines]


def main() -> None:
    """Prints what each routine takes alone, and what is added."""
    try:
        library = select(os.environ.get("CONTEND_BENCH_MPI"))
    except ContendError as error:
        print(f"skipped: {error}")
        return
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "passed_on"
        source = Path(__file__).with_name("passed_on.c")
        subprocess.run([library.wrapper, "-O2", str(source), "-o", str(program)], check=True)
        settings: dict[str, Mapping[str, str]] = {"alone": {}}
        for case, rule in CASES.items():
            rules = Path(name) / case.replace(" ", "-")
            write_rules(Rules((rule,)), rules)
            settings[case] = carry([library.launcher, str(program)], rules).variables
        took: dict[str, list[list[float]]] = {case: [] for case in settings}
        for _ in range(TURNS):
            for case, more in settings.items():
                took[case].append(nanoseconds(program, library, more))
    for index, routine in enumerate(CALLS):
        alone = [launch[index] for launch in took["alone"]]
        print(f"{routine} of {library.name} {library.version}: {statistics.median(alone):.1f} ns")
        for case in CASES:
            added = [
                launch[index] - before for launch, before in zip(took[case], alone, strict=True)
            ]
            print(f"  with rules for {case}: {statistics.median(added):+.1f} ns")


if __name__ == "__main__":
    main()
