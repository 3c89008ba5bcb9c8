"""When an all-to-all collapses in a switch: the cases of docs/validation/emulation.md.

Usage: cases.py measure|table FOLDER. `measure` exchanges blocks between the hosts of one emulated
switch, all at once (`linear`) and one after the other (`shift`, without and with barriers), on
cables of 20 Mbit/s with time-outs of 10 s, as at 1 Gbit/s with 200 ms; a cell that is there already
stays. `table` prints times as at 1 Gbit/s and drops by place. Needs root, Open MPI 4.1, and half an
hour.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CONTEND = [sys.executable, "-c", "from contend.cli import main; main()"]
SCALE = 50
NETWORK = ["--rate", f"{1000 // SCALE}Mbit", "--rto-min", f"{SCALE // 5}s"]
SCHEDULES = ("linear", "shift", "shift-barrier")
EAGER = "OMPI_MCA_btl_tcp_eager_limit"
# Hosts, ranks on each, KiB of the switch's buffers, KiB of blocks, and of what Open MPI sends at
# once without asking the receiver: 64 by default.
CASES = (
    *((16, 1, buffer, block, 64) for buffer in (64, 128) for block in (16, 32, 64)),
    *((32, 1, buffer, block, 64) for buffer in (64, 128) for block in (16, 32, 64)),
    *((16, 4, 128, block, 64) for block in (4, 8, 16)),
    *((32, 1, 128, block, 8) for block in (16, 32)),
)


def measure(folder: Path) -> None:
    """Measures every case."""
    for hosts, each, buffer, block, eager in CASES:
        run = folder / name(hosts, each, buffer, block, eager)
        if not (run / "run.json").exists():
            words = ["measure", "alltoall", "-n", f"{hosts * each}", "--ranks-per-host", f"{each}"]
            words += ["--on", f"emulated:crossbar:{hosts}", *NETWORK, "--buffer", f"{buffer}KiB"]
            words += ["--bytes", f"{block}K", "--algorithm", ",".join(SCHEDULES)]
            words += ["--mpi", "openmpi-4", "--repetitions", "3:3", "-o", str(run)]
            environment = {**os.environ, EAGER: f"{eager << 10}"}
            subprocess.run([*CONTEND, *words], check=False, env=environment)


def table(folder: Path) -> None:
    """A row for each case that was measured."""
    columns = "hosts,ranks_per_host,buffer_KiB,block_KiB,eager_KiB,rate_Mbit,"
    heads = [f"{schedule}_{which}_ms" for schedule in SCHEDULES for which in ("median", "slowest")]
    print(columns + ",".join(heads) + ",in_hosts,before_hosts")
    for case in CASES:
        run = folder / name(*case)
        if not (run / "run.json").exists():
            continue
        said = subprocess.run(
            [*CONTEND, "report", str(run), "--json", "-"], check=True, stdout=subprocess.PIPE
        )
        told, record = json.loads(said.stdout), json.loads((run / "run.json").read_text())
        seconds = {c["algorithm"]: (c["median_s"], c["max_s"]) for c in told["cells"]}
        times = (
            f"{1000 / SCALE * each:.3g}" for schedule in SCHEDULES for each in seconds[schedule]
        )
        drops = told["drops_by_place"]
        rate = f"{8e-6 * record['wire_Bps']:.3g}"
        print(*case, rate, *times, drops["in_hosts"], drops["before_hosts"], sep=",")


def name(*case: int) -> str:
    """Of a case's folder."""
    return "-".join(map(str, case))


if __name__ == "__main__":
    {"measure": measure, "table": table}[sys.argv[1]](Path(sys.argv[2]))
