"""Our probes beside programs of others: NetPIPE's ping-pong, and a loop around mpi4py's Alltoall.

Both are launched in turns, round after round, with the same library, launcher, ranks and sizes. A
round gives one ratio for each size, ours to theirs; what is printed is the median of these with
its 95 % interval, which should lie between 0.9 and 1.1. Each is read as the other reads itself:

* NetPIPE keeps the shortest of seven trials, each the mean of N round trips back to back; so do we
  (`--inner N`, seven samples, the shortest).
* The loop waits in a barrier, times one call, and keeps the longest time of any rank; we start on a
  synchronised clock and keep the latest end minus the earliest start. Both keep the median.

NetPIPE sends from and into one buffer, the loop and we from one into another.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import contend
from contend.mpi import Library
from contend.mpi.launch import Launch, prepare
from contend.mpi.select import select
from contend.samples import Run
from contend.samples.statistics import median_interval
from contend.units import format_bytes

NETPIPE = "NPopenmpi"
LIMIT_S = 300.0
TRIALS = 7
Times = Mapping[int, float]
"""Seconds by message size."""

LOOP = """
import sys
import numpy as np
from mpi4py import MPI

comm, repeats = MPI.COMM_WORLD, int(sys.argv[1])
for size in map(int, sys.argv[2:]):
    mine = np.ones(size * comm.size, dtype=np.uint8)
    theirs = np.zeros_like(mine)
    times = []
    for _ in range(repeats):
        comm.Barrier()
        began = MPI.Wtime()
        comm.Alltoall(mine, theirs)
        times.append(MPI.Wtime() - began)
    longest = np.empty(repeats)
    comm.Reduce(np.array(times), longest, MPI.MAX)
    if comm.rank == 0:
        print(size, np.median(longest[repeats // 10 :]), flush=True)
"""


def run_program(library: Library, ranks: int, words: list[str]) -> str:
    """What another program prints, launched as our probes are."""
    with tempfile.TemporaryDirectory() as folder:
        _, command, environment = prepare(Launch(library, ranks), Path(folder))
        ended = subprocess.run(
            [*command, *words], env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )
    if ended.returncode != 0:
        raise SystemExit(f"{words[0]}: {ended.stderr.strip()}")
    return ended.stdout


def netpipe(library: Library, sizes: list[int], inner: int, folder: Path) -> Times:
    """Seconds one way of NetPIPE."""
    times = {}
    for size in sizes:
        result = folder / "np.out"
        bounds = ["-l", str(size), "-u", str(size), "-p", "0", "-n", str(inner)]
        run_program(library, 2, [NETPIPE, *bounds, "-o", str(result)])
        words = result.read_text().split()
        times[int(words[0])] = float(words[2])
    return times


def our_pingpong(library: Library, sizes: list[int], inner: int, folder: Path) -> Times:
    """Seconds one way of our probe."""
    run = contend.measure(
        "pingpong",
        ranks=2,
        library=library.wrapper,
        folder=folder / "pingpong",
        bytes=",".join(map(str, sizes)),
        inner=inner,
        repetitions=f"{TRIALS}:{TRIALS}",
    )
    shutil.rmtree(run.folder)
    return {size: float(times.min()) / 2 for size, times in of_sizes(run).items()}


def loop(library: Library, ranks: int, sizes: list[int], repeats: int) -> Times:
    """Seconds of an all-to-all in a loop of mpi4py."""
    words = [sys.executable, "-c", LOOP, str(repeats), *map(str, sizes)]
    lines = run_program(library, ranks, words).splitlines()
    return {int(size): float(seconds) for size, seconds in map(str.split, lines)}


def our_alltoall(
    library: Library, ranks: int, sizes: list[int], repeats: int, folder: Path
) -> Times:
    """Seconds of the library's all-to-all in our probe."""
    run = contend.measure(
        "alltoall",
        ranks=ranks,
        library=library.wrapper,
        folder=folder / "alltoall",
        algorithm="library",
        bytes=",".join(map(str, sizes)),
        repetitions=f"{repeats}:{repeats}",
    )
    shutil.rmtree(run.folder)
    return {size: float(np.median(times)) for size, times in of_sizes(run).items()}


def of_sizes(run: Run) -> dict[int, np.ndarray]:
    """The results that count, in seconds of one operation, by message size."""
    return {one.record.bytes or 0: one.used for one in run.summaries}


def compare(
    title: str, ours: Callable[[], Times], theirs: Callable[[], Times], rounds: int
) -> None:
    """Runs both in turns and prints the ratios."""
    print(title)
    found: dict[int, list[tuple[float, float]]] = {}
    for number in range(rounds):
        # Whoever is first finds the machine as the other left it.
        if number % 2:
            other, own = theirs(), ours()
        else:
            own, other = ours(), theirs()
        for size, seconds in own.items():
            found.setdefault(size, []).append((seconds, other[size]))
    print("     bytes        ours      theirs   ratio   95 % interval")
    for size, pairs in found.items():
        own, other = np.array(pairs).T
        ratio = median_interval(own / other)
        low, high = ratio.low or np.nan, ratio.high or np.nan
        told = "" if low >= 0.9 and high <= 1.1 else "   outside 0.9 to 1.1"
        print(
            f"{format_bytes(size):>10} {np.median(own) * 1e6:8.2f} us"
            f" {np.median(other) * 1e6:8.2f} us {ratio.value:7.3f}   {low:.3f} to {high:.3f}{told}",
            flush=True,
        )


def main() -> None:
    """Runs both comparisons, each where its program is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--ranks", type=int, default=2, help="of the all-to-all")
    given = parser.parse_args()
    library = select("mpicc.openmpi" if shutil.which("mpicc.openmpi") else None)
    print(f"{library.name} {library.version}, {given.rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if shutil.which(NETPIPE):
            sizes, inner = [1, 64, 1024, 16 << 10, 64 << 10, 256 << 10, 1 << 20], 200
            compare(
                f"ping-pong beside NetPIPE: shortest of {TRIALS} x {inner} round trips, one way",
                lambda: our_pingpong(library, sizes, inner, folder),
                lambda: netpipe(library, sizes, inner, folder),
                given.rounds,
            )
        else:
            print(f"no {NETPIPE} here (Debian: netpipe-openmpi): ping-pong not compared")
        sizes, repeats = [1024, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20], 200
        compare(
            f"all-to-all of {given.ranks} ranks beside mpi4py: median of {repeats} calls",
            lambda: our_alltoall(library, given.ranks, sizes, repeats, folder),
            lambda: loop(library, given.ranks, sizes, repeats),
            given.rounds,
        )


if __name__ == "__main__":
    main()
