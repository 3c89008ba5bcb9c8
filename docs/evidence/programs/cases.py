"""Predicted run times of real programs against measured ones: docs/validation/program-times.md.

Usage: cases.py record|predict|measure|compare FOLDER, in this order. `record` calibrates on a
crossbar of four hosts and records each program three times on one of sixteen; `predict` writes
predictions for all other places into this folder; only then `measure` runs the programs there,
launches in turns, and `compare` prints every case. Needs root, a quiet machine, half an hour, and
Debian's lammps, gromacs and quantum-espresso.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
CABLES = ["--rate", "50Mbit", "--buffer", "1MB"]
ROUNDS = 3
SCATTERED = f"file:{HERE / 'scattered.hosts'}"

# Name, fabric, what else is given, and cables.
CROSSBAR = ("crossbar", "crossbar:16", [], CABLES)
PLACES = (
    ("narrow", "xgft:2;4,4;1,1", ["--route", "dmodk"], CABLES),
    (
        "narrow-scattered",
        "xgft:2;4,4;1,1",
        ["--route", "dmodk", "--placement", SCATTERED],
        CABLES,
    ),
    (
        "minhop-scattered",
        "xgft:2;4,4;1,4",
        ["--route", "minhop", "--placement", SCATTERED],
        CABLES,
    ),
    ("spine-missing", "spine-missing.fabric", ["--route", "minhop"], CABLES),
    ("slow", "crossbar:16", [], ["--rate", "25Mbit", "--buffer", "1MB"]),
)
PROGRAMS = {
    "lammps": "lmp -in melt.in -log none -screen none",
    "gromacs": "gmx_mpi mdrun -s md.tpr -npme 0 -ntomp 1 -dlb no -nsteps 40 -deffnm run",
    "pw": "pw.x -ndiag 1 -in h2.in",
}

MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 24 0 24 0 24
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 20
run 60
"""
TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = """integrator = md
dt = 0.001
nsteps = 40
cutoff-scheme = Verlet
coulombtype = PME
fourier-nx = POINTS
fourier-ny = POINTS
fourier-nz = POINTS
gen-vel = yes
nstlog = 0
nstenergy = 0
"""
PSEUDOPOTENTIAL = """ &input
   title='H', zed=1.0, rel=0, config='1s1', iswitch=3, dft='PBE'
 /
 &inputp
   lloc=0, pseudotype=1, file_pseudopw='H.UPF', author='x', tm=.true.
 /
1
1S 1 0 1.00 0.00 1.10 1.10 0.0
"""
HYDROGEN = """ &control
   calculation='scf', prefix='h2', pseudo_dir='.', outdir='./out', disk_io='none'
 /
 &system
   ibrav=1, celldm(1)=12.0, nat=2, ntyp=1, ecutwfc=25.0
 /
 &electrons
   conv_thr=1.0d-8
 /
ATOMIC_SPECIES
 H 1.008 H.UPF
ATOMIC_POSITIONS bohr
 H 0.0 0.0 0.0
 H 1.4 0.0 0.0
K_POINTS gamma
"""


def run(folder: Path, *words: str, text: str | None = None) -> str:
    """Runs a command and returns what it prints."""
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMP_NUM_THREADS": "1",
    }
    ended = subprocess.run(
        words, cwd=folder, input=text, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"{' '.join(words)}: exit status {ended.returncode}\n{ended.stderr[-2000:]}")
    return ended.stdout


def prepare_water(folder: Path, points: int = 90) -> None:
    """The input of GROMACS: water at rest, eight of its box of 216 molecules.

    They fit each other as they are. Another size would have to come to rest first, which has
    crashed.

    Args:
        folder: that gets it.
        points: of the grid of PME each way.
    """
    (folder / "topol.top").write_text(TOPOLOGY)
    (folder / "md.mdp").write_text(DYNAMICS.replace("POINTS", str(points)))
    solvate = "solvate -cs spc216 -box 3.72412 -scale 0.1 -p topol.top -o box.gro"
    grompp = "grompp -f md.mdp -c box.gro -p topol.top -o md.tpr -maxwarn 5"
    for step in (solvate, grompp):
        run(folder, "gmx_mpi", *step.split())


def prepare(folder: Path) -> None:
    """Inputs of all programs, and the tree with a spine missing."""
    if (folder / "md.tpr").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    less = "--remove-switches 25% -o spine-missing.fabric"
    run(folder, *CONTEND, "fabric", "make", "xgft:2;4,4;1,4", *less.split())
    (folder / "melt.in").write_text(MELT)
    (folder / "h2.in").write_text(HYDROGEN)
    run(folder, "ld1.x", text=PSEUDOPOTENTIAL)
    prepare_water(folder)


def profile(
    folder: Path, place: tuple[str, str, list[str], list[str]], program: str, to: Path
) -> float:
    """Records a program once; returns the seconds of its run."""
    _, fabric, more, cables = place
    start = ["profile", "-n", "16", "--ranks-per-host", "1", "--on", f"emulated:{fabric}"]
    words = [*start, *more, *cables, "--output", str(to), "--", *PROGRAMS[program].split()]
    if not to.exists():
        run(folder, *CONTEND, *words)
    return float(json.loads((to / "profile.json").read_text())["run_s"])


def record(folder: Path) -> None:
    """Calibrates, and records all programs on the crossbar; the median one is the base."""
    prepare(folder)
    costs = folder / "costs"
    if not costs.exists():
        run(
            folder,
            *CONTEND,
            "calibrate",
            "--on",
            "emulated:crossbar:4",
            "--mpi",
            "openmpi-4",
            *CABLES,
            "--output",
            "costs",
        )
    for turn in range(ROUNDS):
        for program in PROGRAMS:
            profile(folder, CROSSBAR, program, folder / f"{program}-crossbar-{turn}")


def base(folder: Path, program: str) -> Path:
    """The recording that predictions start from: the one of median length."""
    taken = {
        folder / f"{program}-crossbar-{turn}": profile(
            folder, CROSSBAR, program, folder / f"{program}-crossbar-{turn}"
        )
        for turn in range(ROUNDS)
    }
    return sorted(taken, key=lambda path: taken[path])[ROUNDS // 2]


def predict(folder: Path) -> None:
    """Predictions of every case."""
    (HERE / "calibration.json").write_text((folder / "costs" / "calibration.json").read_text())
    rows = []
    for program in PROGRAMS:
        source = base(folder, program)
        for name, fabric, more, cables in PLACES:
            target = folder / "predicted.json"
            options = ["--calibration", "costs", "--json", str(target)]
            run(folder, *CONTEND, "predict", str(source), fabric, *more, *cables, *options)
            found = json.loads(target.read_text())
            (case,) = found["cases"]
            rows.append(
                {
                    "program": program,
                    "place": name,
                    "recorded_s": round(found["recorded_s"], 3),
                    "modelled_s": round(found["modelled_s"], 3),
                    "look_every_s": round(found["look_every_s"], 6),
                    "predicted_s": round(case["predicted_s"], 3),
                    "low_s": round(case["interval_s"][0], 3),
                    "high_s": round(case["interval_s"][1], 3),
                    "time_outs": case["collapses"],
                }
            )
    with (HERE / "predicted.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def measure(folder: Path) -> None:
    """Runs every program in every place, in turns."""
    with (HERE / "measured.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["program", "place", "turn", "run_s"])
        for turn in range(ROUNDS):
            for place in (CROSSBAR, *PLACES):
                for program in PROGRAMS:
                    target = folder / f"{program}-{place[0]}-again-{turn}"
                    seconds = profile(folder, place, program, target)
                    writer.writerow([program, place[0], turn, round(seconds, 3)])
                    file.flush()


def compare(_: Path) -> None:
    """Prints every case."""
    measured: dict[tuple[str, str], list[float]] = defaultdict(list)
    with (HERE / "measured.csv").open() as file:
        for row in csv.DictReader(file):
            measured[row["program"], row["place"]].append(float(row["run_s"]))
    errors = []
    print("| program | place | predicted | interval | measured | all launches | off by |")
    print("|---|---|---:|---:|---:|---|---:|")
    for program in PROGRAMS:
        launches = measured[program, "crossbar"]
        words = ", ".join(f"{seconds:.2f}" for seconds in sorted(launches))
        print(
            f"| {program} | crossbar, again | | | {statistics.median(launches):.2f} s | {words} | |"
        )
    with (HERE / "predicted.csv").open() as file:
        for row in csv.DictReader(file):
            launches = measured[row["program"], row["place"]]
            seconds, predicted = statistics.median(launches), float(row["predicted_s"])
            off = predicted / seconds - 1
            errors.append(abs(off))
            words = ", ".join(f"{launch:.2f}" for launch in sorted(launches))
            print(
                f"| {row['program']} | {row['place']} | {predicted:.2f} s | "
                f"{float(row['low_s']):.2f} to {float(row['high_s']):.2f} | {seconds:.2f} s | "
                f"{words} | {100 * off:+.0f} % |"
            )
    print(f"\nmedian {100 * statistics.median(errors):.1f} %, largest {100 * max(errors):.1f} %")


if __name__ == "__main__":
    steps = {"record": record, "predict": predict, "measure": measure, "compare": compare}
    if len(sys.argv) != 3 or sys.argv[1] not in steps:
        sys.exit(__doc__)
    steps[sys.argv[1]](Path(sys.argv[2]).resolve())
