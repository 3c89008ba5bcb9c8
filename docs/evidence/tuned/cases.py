"""What rules for all-to-alls save: the cases of docs/validation/tuned.md.

Usage: cases.py learn|pairs|gromacs|compare FOLDER, in this order. `learn` measures schedules beside
the library's all-to-all on an emulated tree with small buffers and writes rules; `pairs` makes the
library's call and the one by rules in turns within each launch; `gromacs` times GROMACS, launches
in turns; `compare` prints both. Needs root, a quiet machine, forty minutes, and Debian's gromacs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from contend.runs import median_interval, ratio

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "programs"))
import cases as programs  # noqa: E402  (the inputs of GROMACS)

CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
TREE = ["--on", "emulated:xgft:2;4,4;1,4", "--route", "dmodk", "--rate", "100Mbit"]
PLACE = ["-n", "16", "--ranks-per-host", "1", *TREE, "--buffer", "100kB"]
# As programs start calls, and `pairs` does.
STARTED = ["--start", "barrier"]
LEARNT = ["--algorithm", "library,shift,shift-barrier,linear", "--bytes", "256:1M"]
LEARNT += ["--repetitions", "6:8", "--budget", "8min"]
# Where packets are dropped, times differ from launch to launch.
DROPPING = ["--algorithm", "library,shift,shift-barrier", "--bytes", "8K:1M"]
DROPPING += ["--launches", "6", "--repetitions", "6:6", "--budget", "14min"]
# And where few are, one launch in six goes otherwise.
FEW = ["--algorithm", "library,shift", "--bytes", "8K", "--launches", "20"]
FEW += ["--repetitions", "10:10", "--budget", "5min"]
PAIRED, TURNS = 2, 7
MDRUN = "gmx_mpi mdrun -s md.tpr -npme 0 -ntomp 1 -dlb no -nsteps 40 -deffnm run"
_WALL = re.compile(r"^\s*Time:\s+\S+\s+(\S+)", re.MULTILINE)
_DROPS = re.compile(r"^([\d,]+) packets dropped", re.MULTILINE)


def run(folder: Path, *words: str) -> str:
    """Runs a command and returns all that it prints."""
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMP_NUM_THREADS": "1",
    }
    ended = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        sys.exit(f"{' '.join(words)}: exit status {ended.returncode}\n{ended.stdout[-2000:]}")
    return ended.stdout


def learn(folder: Path) -> None:
    """Measures, and writes rules."""
    parts = {"learnt": LEARNT, "learnt-more": DROPPING, "learnt-few": FEW}
    for name, what in parts.items():
        if not (folder / name).exists():
            measure = ["measure", "alltoall", "--mpi", "openmpi-4", *PLACE, *STARTED, *what]
            run(folder, *CONTEND, *measure, "-o", name)
    print(run(folder, *CONTEND, "tune", *parts, "-o", "rules"))


def pairs(folder: Path) -> None:
    """The library's own call and the one by the rules in turns, in each of some launches."""
    run(folder, "mpicc.openmpi", "-O2", str(HERE / "pairs.c"), "-o", "pairs", "-ldl")
    for turn in range(PAIRED):
        kept = folder / f"pairs-{turn}.csv"
        if not kept.exists():
            words = [*CONTEND, "run", "--tuned", "rules", "--mpi", "openmpi-4", *PLACE]
            said = run(folder, *words, "--", "./pairs").splitlines()
            rows = [line.removeprefix("pair,") for line in said if line.startswith("pair,")]
            kept.write_text("\n".join(["bytes,own_s,carried_s", *rows, ""]))


def gromacs(folder: Path) -> None:
    """Seconds of GROMACS' own clock and packets dropped, without and with the rules, in turns."""
    if not (folder / "md.tpr").exists():
        programs.prepare_water(folder)
    nothing = folder / "nothing"
    nothing.mkdir(exist_ok=True)
    (nothing / "rules.toml").write_text("version = 1\n")
    times: dict[str, list[tuple[float, int]]] = {"without": [], "with": []}
    for _ in range(TURNS):
        for name, rules in (("without", "nothing"), ("with", "rules")):
            words = [*CONTEND, "run", "--tuned", rules, *PLACE, "--", *MDRUN.split()]
            said = run(folder, *words)
            wall, drops = _WALL.search(said), _DROPS.search(said)
            assert wall is not None, said
            assert drops is not None, said
            times[name].append((float(wall[1]), int(drops[1].replace(",", ""))))
            print(name, *times[name][-1], flush=True)
        (folder / "gromacs.json").write_text(json.dumps(times))


def compare(folder: Path) -> None:
    """Both, as Markdown."""
    print("| bytes | pairs | own | by the rules | times faster | 95 % |\n|--:|--:|--:|--:|--:|--:|")
    files = [folder / f"pairs-{turn}.csv" for turn in range(PAIRED)]
    every = np.concatenate([np.loadtxt(file, delimiter=",", skiprows=1) for file in files])
    for size in np.unique(every[:, 0]):
        own, carried = every[every[:, 0] == size][:, 1:].T
        gain = median_interval(own / carried)
        print(
            f"| {int(size):,} | {len(own)} | {1e3 * np.median(own):.3g} ms "
            f"| {1e3 * np.median(carried):.3g} ms "
            f"| {gain.value:.3f} | {gain.low:.3f} to {gain.high:.3f} |"
        )
    times = json.loads((folder / "gromacs.json").read_text())
    walls = {name: np.array([wall for wall, _ in each]) for name, each in times.items()}
    before, after = (median_interval(walls[name]) for name in ("without", "with"))
    gain = ratio(before, after)
    print("\n| GROMACS | median | 95 % | packets dropped |\n|---|--:|--:|--:|")
    for name, took in (("without", before), ("with", after)):
        drops = int(np.median([drops for _, drops in times[name]]))
        print(f"| {name} | {took.value:.2f} s | {took.low:.2f} to {took.high:.2f} | {drops:,} |")
    print(f"| times faster | {gain.value:.2f} | {gain.low:.2f} to {gain.high:.2f} | |")


if __name__ == "__main__":
    part, where = sys.argv[1], Path(sys.argv[2]).resolve()
    where.mkdir(parents=True, exist_ok=True)
    {each.__name__: each for each in (learn, pairs, gromacs, compare)}[part](where)
