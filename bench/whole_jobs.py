"""Whole jobs, each in a process of its own: seconds, processor seconds and peak memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import contend

JOBS = {
    "read 266 MB of tables, xz (Selene compute)": (
        "contend.load('{data}/selene.compute.ibnetdiscover.xz',"
        " routes='{data}/selene.compute.minhop.opensm-lfts.xz')"
    ),
    "read 17 MB of tables, xz (Selene storage)": (
        "contend.load('{data}/selene.storage.ibnetdiscover.xz',"
        " routes='{data}/selene.storage.minhop.opensm-lfts.xz')"
    ),
    "10,000 bisect patterns on Thunderbird, minhop": (
        "contend.simulate(contend.load('thunderbird', route='minhop'), samples=10000)"
    ),
    "make and route 65,536 hosts, dmodk": "contend.load('fattree3:64', route='dmodk')",
    "the same, and 1,000 bisect patterns": (
        "contend.simulate(contend.load('fattree3:64', route='dmodk'), samples=1000)"
    ),
}


def shared_data() -> Path | None:
    """The folder of large real fabrics, where there is one."""
    checkout = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("CONTEND_SHARED_DATA", checkout.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


def run(title: str, code: str) -> None:
    """Runs one job in this process, which runs nothing else, and prints its row."""
    wall = time.perf_counter()
    exec(code, {"contend": contend})
    wall = time.perf_counter() - wall
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(f"{title:48} {wall:6.2f} s {cpu:7.2f} s cpu {used.ru_maxrss / 1024:7.0f} MiB", flush=True)


def main() -> None:
    """Runs every job, or the one whose title is given."""
    if len(sys.argv) > 1:
        run(sys.argv[1], JOBS[sys.argv[1]].format(data=shared_data()))
        return
    for title, code in JOBS.items():
        if "{data}" in code and shared_data() is None:
            print(f"{title:48} skipped: no folder of shared fabrics")
            continue
        subprocess.run([sys.executable, __file__, title], check=True)


if __name__ == "__main__":
    main()
