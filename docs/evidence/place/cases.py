"""LAMMPS on scattered hosts of a narrow tree, with other seats: docs/validation/placement.md.

Usage: cases.py place|measure|compare FOLDER, in this order. `place` calibrates, records the
program once on the scattered hosts, computes seats, and predicts both orders; only then `measure`
runs both in turns, and `compare` prints them. Needs root, a quiet machine, a quarter of an hour,
and Debian's lammps.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "programs"))
import cases as programs  # noqa: E402  (the input of LAMMPS)

CABLES = ["--rate", "30Mbit", "--buffer", "200kB"]
FABRIC = ["xgft:2;4,4;1,1", "--route", "dmodk"]
TURNS = 5
ORDERS = {"scattered": HERE / "scattered.hosts", "placed": HERE / "placed.hosts"}


def contend(folder: Path, *words: str) -> str:
    """Runs a command of contend and returns what it prints."""
    return programs.run(folder, *programs.CONTEND, *words)


def launch(folder: Path, order: str, to: str) -> float:
    """Records the program in an order; returns the seconds of its run."""
    fabric, *more = FABRIC
    where = ["--ranks-per-host", "1", "--on", f"emulated:{fabric}", *more, *CABLES]
    placement = ["--placement", f"file:{ORDERS[order]}"]
    command = ["lmp", "-in", "melt.in", "-log", "none", "-screen", "none"]
    contend(folder, "profile", "-n", "16", *where, *placement, "--output", to, "--", *command)
    seconds = json.loads((folder / to / "profile.json").read_text())["run_s"]
    print(f"{order}: {seconds:.2f} s", flush=True)
    return float(seconds)


def place(folder: Path) -> None:
    """Seats for the program from one recording, and what both orders are predicted to take."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "melt.in").write_text(programs.MELT)
    if not (folder / "costs").exists():
        contend(folder, "calibrate", "--on", "emulated:crossbar:4", *CABLES, "--output", "costs")
    if not (folder / "recorded").exists():
        launch(folder, "scattered", "recorded")
    given = ["--placement", f"file:{ORDERS['scattered']}"]
    new = ["--format", "plain", "-o", str(ORDERS["placed"])]
    print(contend(folder, "place", "recorded", *FABRIC, *given, *new))
    orders = [word for path in ORDERS.values() for word in ("--placement", f"file:{path}")]
    options = ["--calibration", "costs", *CABLES, "--json", "predicted.json"]
    print(contend(folder, "predict", "recorded", *FABRIC, *orders, *options))
    cases = json.loads((folder / "predicted.json").read_text())["cases"]
    with (HERE / "predicted.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["order", "predicted_s", "low_s", "high_s"])
        for order, case in zip(ORDERS, cases, strict=True):
            figures = (case["predicted_s"], *case["interval_s"])
            writer.writerow([order, *(round(seconds, 3) for seconds in figures)])


def measure(folder: Path) -> None:
    """Runs both orders, in turns."""
    with (HERE / "measured.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["order", "turn", "run_s"])
        for turn in range(TURNS):
            for order in ORDERS:
                seconds = launch(folder, order, f"{order}-{turn}")
                writer.writerow([order, turn, round(seconds, 3)])
                file.flush()


def compare(_: Path) -> None:
    """Prints both orders."""
    with (HERE / "measured.csv").open() as file:
        rows = list(csv.DictReader(file))
    print("| order | predicted | interval | measured | all launches |")
    print("|---|---:|---:|---:|---|")
    with (HERE / "predicted.csv").open() as file:
        for row in csv.DictReader(file):
            taken = sorted(float(one["run_s"]) for one in rows if one["order"] == row["order"])
            words = ", ".join(f"{seconds:.2f}" for seconds in taken)
            print(
                f"| {row['order']} | {float(row['predicted_s']):.2f} s | "
                f"{float(row['low_s']):.2f} to {float(row['high_s']):.2f} | "
                f"{statistics.median(taken):.2f} s | {words} |"
            )


if __name__ == "__main__":
    steps = {"place": place, "measure": measure, "compare": compare}
    if len(sys.argv) != 3 or sys.argv[1] not in steps:
        sys.exit(__doc__)
    steps[sys.argv[1]](Path(sys.argv[2]).resolve())
