"""What recording adds to messages of 8 bytes and to questions in vain, launches in turns.

CONTEND_BENCH_MPIP names a libmpiP.so of the same MPI library to compare with; CONTEND_BENCH_MPI the
library, as `--mpi` does.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from contend.base.errors import ContendError
from contend.base.process import run_process
from contend.lab.mpi import Candidate, Library, Preload, compile_preload, launch_environment, select

TURNS = 11
WAYS = ("an MPI_Isend", "MPI_Irecv, MPI_Isend and MPI_Waitall", "an MPI_Test in vain")


def nanoseconds(program: Path, library: Library, preload: Path | None) -> list[tuple[float, float]]:
    """By way, median and least of a launch's batches; what it leaves goes away with its folder."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**launch_environment(library.environment), "CONTEND_PROFILE": folder}
        if preload is not None:
            environment["LD_PRELOAD"] = str(preload)
        command = [library.launcher, "-n", "1", str(program)]
        ended = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=True
        )
        figures = [line for line in ended.stdout.splitlines() if line[:1].isdigit()]
        return [(float(median), float(least)) for median, least in map(str.split, figures)]


def main() -> None:
    """Prints a row for the library alone and one for everything that is preloaded."""
    try:
        library = select(os.environ.get("CONTEND_BENCH_MPI"))
    except ContendError as error:
        print(f"skipped: {error}")
        return
    candidate = Candidate(library.origin, Path(library.wrapper), environment=library.environment)
    preloads: dict[str, Path | None] = {f"{library.name} {library.version} alone": None}
    preloads["with contend's recorder"] = compile_preload(
        Preload.RECORDER, candidate, library.reported, run_process, 300.0
    )
    if other := os.environ.get("CONTEND_BENCH_MPIP"):
        preloads["with mpiP"] = Path(other)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "messages"
        source = Path(__file__).with_name("messages.c")
        subprocess.run([library.wrapper, "-O2", str(source), "-o", str(program)], check=True)
        took: dict[str, list[list[tuple[float, float]]]] = {title: [] for title in preloads}
        for _ in range(TURNS):
            for title, preload in preloads.items():
                took[title].append(nanoseconds(program, library, preload))
    for way, name in enumerate(WAYS):
        print(f"{name}:")
        alone = [launch[way] for launch in next(iter(took.values()))]
        for title, launches in took.items():
            figures = [launch[way] for launch in launches]
            added = [one[0] - first[0] for one, first in zip(figures, alone, strict=True)]
            # Whatever else the machine does, it does in no batch's favour.
            least = min(one[1] for one in figures)
            least_added = least - min(one[1] for one in alone)
            print(
                f"  {title:32} {statistics.median(one[0] for one in figures):7.1f} ns"
                f" ({statistics.median(added):+.1f}), at least {least:.1f} ({least_added:+.1f})",
                flush=True,
            )
    if "with mpiP" not in took:
        print("set CONTEND_BENCH_MPIP to a libmpiP.so to compare", file=sys.stderr)


if __name__ == "__main__":
    main()
