"""What recording adds to the run time of GROMACS: launches with and without it in turns.

Debian's gmx_mpi, 2 ranks, water with PME. The order within a turn changes from turn to turn, and
every turn gives one ratio; printed is their median with its 95 % interval, by the clock of the
whole launch, by GROMACS' own clock of its steps, and by processor time. The same of launches
without the recorder, each against that of the turn before, tells what noise leaves open. What is
added to single calls times how many there are is the least that it can be; noise does not touch it.
CONTEND_BENCH_STEPS sets how many steps a launch takes.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from contend.base.errors import ContendError
from contend.base.process import run_process
from contend.lab.mpi import (
    Candidate,
    Library,
    Preload,
    compile_preload,
    launch_environment,
    library_of,
)
from contend.lab.runs import median_interval
from contend.profiling.record_file import read_record

TURNS = 45
# The most that the recorder may add to a call; the benchmark `recorder` measures what it does add.
A_CALL_NS = 60
STEPS = int(os.environ.get("CONTEND_BENCH_STEPS", "1200"))
TOPOLOGY = """#include "amber99sb.ff/forcefield.itp"
#include "amber99sb.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = """integrator = md
nsteps = -1
dt = 0.001
cutoff-scheme = Verlet
coulombtype = PME
fourierspacing = 0.12
tcoupl = v-rescale
tc-grps = System
tau-t = 0.5
ref-t = 300
gen-vel = yes
"""
_WATERS = re.compile(r"Number of solvent molecules:\s+(\d+)")
_WALL = re.compile(r"^\s*Time:\s+\S+\s+(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Took:
    """A launch: seconds from start to end, of its steps, of all processors; calls of a rank."""

    launch: float
    steps: float
    processors: float
    calls: int


def prepare(folder: Path, environment: dict[str, str]) -> None:
    """Makes water at rest, eight of its box of 216 molecules, as topol.tpr."""

    def gmx(*words: str) -> str:
        done = subprocess.run(
            ["gmx_mpi", "-quiet", "-nobackup", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout + done.stderr

    told = gmx("solvate", "-cs", "spc216", "-box", "3.72412", "-scale", "0.1", "-o", "water.gro")
    waters = _WATERS.findall(told)[0]
    (folder / "topol.top").write_text(f"{TOPOLOGY}SOL {waters}\n")
    (folder / "dynamics.mdp").write_text(DYNAMICS)
    gmx("grompp", "-f", "dynamics.mdp", "-c", "water.gro", "-p", "topol.top", "-o", "topol.tpr")


def launch(folder: Path, library: Library, environment: dict[str, str]) -> Took:
    """One launch of the same steps."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [library.launcher, "-n", "2", "gmx_mpi", "-quiet", "mdrun", "-ntomp", "1"]
        command += ["-s", str(folder / "topol.tpr"), "-nsteps", str(STEPS), "-dlb", "no"]
        variables = {**environment, "CONTEND_PROFILE": scratch}
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, cwd=scratch, env=variables, capture_output=True, check=True)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        steps = float(_WALL.findall((Path(scratch) / "md.log").read_text())[0])
        records = [read_record(path) for path in Path(scratch).glob("*.record")]
        assert len(records) == (2 if "LD_PRELOAD" in environment else 0), records
        calls = max((int(record.cells["calls"].sum()) for record in records), default=0)
        return Took(wall, steps, used, calls)


def tell(title: str, ratios: np.ndarray) -> None:
    """Rows: what one kind of launch takes more than another."""
    for clock, values in zip(("launch", "steps", "processors"), ratios.T, strict=True):
        ratio = median_interval(values)
        interval = f"95 % {ratio.low - 1:+.2%} to {ratio.high - 1:+.2%}"
        print(f"{title:26} {clock:12} {ratio.value - 1:+7.2%}  {interval}", flush=True)


def main() -> None:
    """Runs all turns; prints what recording adds, and what noise leaves open."""
    if shutil.which("gmx_mpi") is None:
        print("skipped: gmx_mpi is not installed")
        return
    try:
        library = library_of(["gmx_mpi"])
    except ContendError as error:
        print(f"skipped: {error}")
        return
    candidate = Candidate(library.origin, Path(library.wrapper), environment=library.environment)
    tracer = compile_preload(Preload.RECORDER, candidate, library.reported, run_process, 300.0)
    alone = {**launch_environment(library.environment), "OMP_NUM_THREADS": "1"}
    recorded = {**alone, "LD_PRELOAD": str(tracer)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, alone)
        launch(folder, library, recorded)
        figures = []
        for turn in range(TURNS):
            took = {}
            for kind in ("alone", "recorded") if turn % 2 else ("recorded", "alone"):
                environment = recorded if kind == "recorded" else alone
                took[kind] = astuple(launch(folder, library, environment))
            figures.append([took["alone"], took["recorded"]])
            print(f"turn {turn + 1} of {TURNS}: {figures[-1]}", file=sys.stderr, flush=True)
    without, with_it = np.moveaxis(np.array(figures), 1, 0)
    print(f"{STEPS} steps, {TURNS} turns, median {np.median(without[:, 0]):.2f} s a launch")
    tell("recorded against alone", with_it[:, :3] / without[:, :3])
    tell("alone against turn before", without[1:, :3] / without[:-1, :3])
    calls, wall = with_it[:, 3].max(), float(np.median(without[:, 0]))
    share = 1e-9 * A_CALL_NS * calls / wall
    print(f"{calls:,.0f} recorded calls of a rank; at {A_CALL_NS} ns each {share:.3%} of a launch")


if __name__ == "__main__":
    main()
