"""When an all-to-all collapses in a switch: the cases of docs/validation/emulation.md.

Usage: cases.py measure|table FOLDER. `measure` runs `linear`, which sends everything at once, and
`shift`, which sends to one rank after the other, on emulated hosts of one switch at 20 Mbit/s with
time-outs of 10 s, as at 1 Gbit/s with 200 ms, from small blocks to the first size at which `linear`
waits for a time-out; a cell that is there already stays. `table` prints what was found. Needs root,
Open MPI 4.1, and half an hour.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
SCALE = 50
NETWORK = ["--rate", f"{1000 // SCALE}Mbit", "--rto-min", f"{SCALE * 0.2:.0f}s"]
HOSTS = ((32, 1), (16, 1), (16, 2), (16, 4))
BUFFERS = (16, 32, 64, 128)
SIZES = (4, 8, 16, 32, 64, 128)
TIME_OUT_S = SCALE * 0.2


def measure(folder: Path) -> None:
    """Measures every case up to the size at which it collapses."""
    for (hosts, each), buffer in product(HOSTS, BUFFERS):
        for size in SIZES:
            run = folder / f"{hosts}x{each}-{buffer}-{size}"
            if not (run / "run.json").exists():
                words = ["measure", "alltoall", "-n", f"{hosts * each}", "--ranks-per-host"]
                words += [f"{each}", "--on", f"emulated:crossbar:{hosts}", *NETWORK]
                words += ["--buffer", f"{buffer}KiB", "--mpi", "openmpi-4", "--bytes", f"{size}K"]
                words += ["--algorithm", "linear,shift", "--repetitions", "3:3"]
                subprocess.run([*CONTEND, *words, "-o", str(run)], check=False)
            if worst(run) > TIME_OUT_S:
                break


def worst(run: Path) -> float:
    """The median seconds of `linear`."""
    return medians(run)["linear"]


def medians(run: Path) -> dict[str, float]:
    """Median seconds of a schedule's operations."""
    said = subprocess.run(
        [*CONTEND, "report", str(run), "--json", "-"], check=True, stdout=subprocess.PIPE
    )
    return {cell["algorithm"]: cell["median_s"] for cell in json.loads(said.stdout)["cells"]}


def table(folder: Path) -> None:
    """A row for each number of ranks, with what happens at each buffer; times as at 1 Gbit/s."""
    print("hosts,ranks_per_host,buffer_KiB,block_KiB,linear_ms,shift_ms,in_hosts,before_hosts")
    for (hosts, each), buffer, size in product(HOSTS, BUFFERS, SIZES):
        run = folder / f"{hosts}x{each}-{buffer}-{size}"
        if not (run / "run.json").exists():
            continue
        drops = json.loads((run / "run.json").read_text())["counters"]["drops_by_place"]
        times = {name: 1000 * seconds / SCALE for name, seconds in medians(run).items()}
        row = (hosts, each, buffer, size, f"{times['linear']:.3g}", f"{times['shift']:.3g}")
        print(*row, drops["in_hosts"], drops["before_hosts"], sep=",")


if __name__ == "__main__":
    {"measure": measure, "table": table}[sys.argv[1]](Path(sys.argv[2]))
