"""Fourteen programs that no width of an interval was taken from: docs/validation/program-times.md.

Usage: mixed.py FOLDER. Calibrates on a crossbar of four hosts, records every program of `mixed.c`
once on one of eight, predicts it in three other places, and only then runs it there; `mixed.csv` in
the folder gets a row for each. Needs root and half an hour.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import contend

HERE = Path(__file__).parent
CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
CABLES = ("--buffer", "1MB")
PROGRAMS = (
    "pipeline 40000 12 3000",
    "pingpong 64 1500 0",
    "shower 512 12 5000",
    "line 120000 5 10000",
    "uneven 30000 6 3000",
    "solver 4000 60 2000",
    "workers 20000 12 5000",
    "trees 100000 4 5000",
    "butterfly 32000 8 3000",
    "rowcolumn 30000 8 3000",
    "overlap 100000 6 60000",
    "unequal 20000 15 5000",
    "stream 100000 2 0",
    "scattergather 24000 8 3000",
)
SCATTERED = ("--placement", "file:order.hosts")
# Name, fabric, what else is given, and rate.
PLACES = (
    ("narrow", "xgft:2;4,2;1,1", ("--route", "dmodk"), "20Mbit"),
    ("scattered", "xgft:2;2,4;1,2", ("--route", "dmodk", *SCATTERED), "20Mbit"),
    ("slow", "crossbar:8", (), "8Mbit"),
)


def run(folder: Path, *words: str) -> None:
    """Runs a command of contend."""
    ended = subprocess.run(
        [*CONTEND, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"contend {' '.join(words)}: {ended.stderr[-2000:]}")


def profile(folder: Path, name: str, program: str, fabric: str, *more: str) -> float:
    """Runs a program once; its run time."""
    if not (folder / name).exists():
        ranks = ("-n", "8", "--ranks-per-host", "1", "--mpi", "openmpi-4")
        place = ("--on", f"emulated:{fabric}", *CABLES, *more)
        command = ("./mixed", *program.split())
        run(folder, "profile", *ranks, *place, "--output", name, "--", *command)
    return contend.Profile.load(folder / name).findings.within_s


def main(folder: Path) -> None:
    """Records, predicts, measures."""
    build = ["mpicc.openmpi", "-O2", "-o", "mixed", str(HERE / "mixed.c")]
    subprocess.run(build, cwd=folder, check=True)
    (folder / "order.hosts").write_text("".join(f"host {n}\n" for n in (1, 5, 3, 8, 2, 7, 6, 4)))
    on = ("--on", "emulated:crossbar:4", "--rate", "20Mbit", *CABLES, "--mpi", "openmpi-4")
    run(folder, "calibrate", *on, "--output", "costs")
    rows = []
    for program in PROGRAMS:
        mode = program.split()[0]
        profile(folder, mode, program, "crossbar:8", "--rate", "20Mbit")
        for name, fabric, more, rate in PLACES:
            given = (*more, "--rate", rate, *CABLES, "--calibration", "costs")
            run(folder, "predict", "program", mode, fabric, *given, "--json", f"{mode}-{name}.json")
    for name, fabric, more, rate in PLACES:
        for program in PROGRAMS:
            mode = program.split()[0]
            [case] = json.loads((folder / f"{mode}-{name}.json").read_text())["cases"]
            times = (case["predicted_s"], *case["interval_s"])
            took = profile(folder, f"{mode}-{name}", program, fabric, "--rate", rate, *more)
            seconds = [f"{time:.3f}" for time in (*times, took)]
            rows.append(["openmpi-4", 8, program, name, case["crowded"], *seconds])
    with (folder / "mixed.csv").open("w", newline="") as file:
        table = csv.writer(file)
        heads = "library,ranks,program,place,doubtful,predicted_s,low_s,high_s,measured_s"
        table.writerow(heads.split(","))
        table.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
