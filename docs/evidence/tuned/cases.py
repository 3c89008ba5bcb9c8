"""What rules for all-to-alls save: the cases of docs/validation/tuned.md.

Usage: cases.py learn|gromacs|compare FOLDER, in this order. On an emulated tree with small buffers
in its switches and hosts as Linux has them, once with TCP's own time-outs and once with ten times
as long ones, as if it were as many times as fast: `learn` measures schedules beside the library's
all-to-all and writes rules; `gromacs` times GROMACS with two sizes of blocks, launches in turns;
`compare` prints both. Needs root, a quiet machine, twenty minutes, and Debian's gromacs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "programs"))
import cases as programs  # noqa: E402  (the inputs of GROMACS)

CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
TREE = ["--on", "emulated:xgft:2;4,4;1,4", "--route", "dmodk", "--rate", "100Mbit"]
PLACE = ["-n", "16", "--ranks-per-host", "1", *TREE, "--buffer", "100kB"]
# As it is, and as at ten times its rate.
NETWORKS = {"tcp": [], "fast": ["--rto-min", "2s"]}
# As programs start calls. Where packets are dropped, times differ from launch to launch.
LEARNT = ["--start", "barrier", "--algorithm", "library,shift,shift-barrier", "--bytes", "4K:256K"]
LEARNT += ["--launches", "6", "--repetitions", "3:4", "--budget", "9min"]
TURNS = 5
# Points of GROMACS' grid each way, its steps, and the network. 90 points make blocks of 14,112
# bytes, 168 make 82,280, which are more than Open MPI sends without asking the receiver.
GROMACS = {
    "small blocks": (90, 40, "tcp"),
    "large blocks": (168, 10, "tcp"),
    "large blocks, fast": (168, 10, "fast"),
}
_WALL = re.compile(r"^\s*Time:\s+\S+\s+(\S+)", re.MULTILINE)
_DROPS = re.compile(r"^(No|[\d,]+) packets? (?:was|were) dropped(.*)\.$", re.MULTILINE)


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
    for network, cables in NETWORKS.items():
        if not (folder / f"learnt-{network}").exists():
            measure = ["measure", "alltoall", "--mpi", "openmpi-4", *PLACE, *cables, *LEARNT]
            run(folder, *CONTEND, *measure, "-o", f"learnt-{network}")
        print(run(folder, *CONTEND, "tune", f"learnt-{network}", "-o", f"rules-{network}"))


def gromacs(folder: Path) -> None:
    """Seconds of GROMACS' own clock and packets dropped, without and with the rules, in turns."""
    nothing = folder / "nothing"
    nothing.mkdir(exist_ok=True)
    (nothing / "rules.toml").write_text("version = 1\n")
    times: dict[str, dict[str, list[tuple[float, str]]]] = {}
    for case, (points, steps, network) in GROMACS.items():
        water = folder / f"water-{points}"
        if not (water / "md.tpr").exists():
            water.mkdir(exist_ok=True)
            programs.prepare_water(water, points)
        mdrun = f"gmx_mpi mdrun -s {water / 'md.tpr'} -npme 0 -ntomp 1 -dlb no -nsteps {steps}"
        of_case = times.setdefault(case, {"without": [], "with": []})
        for _ in range(TURNS):
            for name, rules in (("without", "nothing"), ("with", f"rules-{network}")):
                words = [*CONTEND, "run", "--tuned", rules, *PLACE, *NETWORKS[network], "--"]
                said = run(folder, *words, *mdrun.split(), "-deffnm", "run")
                wall, drops = _WALL.search(said), _DROPS.search(said)
                assert wall is not None, said
                assert drops is not None, said
                of_case[name].append((float(wall[1]), f"{drops[1]}{drops[2]}"))
                print(case, name, *of_case[name][-1], flush=True)
            (folder / "gromacs.json").write_text(json.dumps(times, indent=1))


def compare(folder: Path) -> None:
    """Both, as Markdown."""
    for network in NETWORKS:
        print(run(folder, *CONTEND, "tune", f"learnt-{network}", "-o", f"rules-{network}"))
    print("\n| GROMACS | without | with | times faster | dropped without | dropped with |")
    print("|---|--:|--:|--:|---|---|")
    for case, times in json.loads((folder / "gromacs.json").read_text()).items():
        walls = {name: np.array([wall for wall, _ in each]) for name, each in times.items()}
        # From the least to the most of five is an interval of 94 % for the median.
        gain = walls["without"] / walls["with"]
        drops = " | ".join(times[name][0][1] for name in ("without", "with"))
        took = " | ".join(f"{told(walls[name])} s" for name in ("without", "with"))
        faster = told(gain)
        print(f"| {case} | {took} | {faster} | {drops} |")


def told(values: np.ndarray) -> str:
    """The median, and the least and the most."""
    return f"{np.median(values):.2f} ({values.min():.2f} to {values.max():.2f})"


if __name__ == "__main__":
    part, where = sys.argv[1], Path(sys.argv[2]).resolve()
    where.mkdir(parents=True, exist_ok=True)
    {each.__name__: each for each in (learn, gromacs, compare)}[part](where)
