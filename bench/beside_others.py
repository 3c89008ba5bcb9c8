"""Our probes beside programs of others: NetPIPE's ping-pong, and a loop around mpi4py's Alltoall.

Both are launched in turns, round after round, with the same library, launcher, ranks and sizes:
over an emulated network of 100 Mbit/s, where this user may make one, and through this machine's
memory. A round gives one ratio for each size, ours to theirs; what is printed is the median of
these with its 95 % interval, which should lie between 0.9 and 1.1. Each is read as the other reads
itself:

* NetPIPE keeps the shortest of seven trials, each the mean of N round trips back to back; so do we
  (`--inner N`, seven samples, the shortest). N is such that a trial takes about 20 ms.
* The loop waits in a barrier, times one call, and keeps the longest time of any rank, less what the
  same call costs with nobody to send to, which is Python's part; we start on a synchronised clock
  and keep the latest end minus the earliest start. Both keep the median. Both have buffers that
  begin with a page: where they do not, messages of 64 KiB take three times as long. And the loop
  pauses before each call, as we do, so that an emulated cable has gathered its burst again.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import contend
from contend.emulate import EmulatedHosts, Network, bring_up
from contend.errors import MissingError
from contend.mpi import Library
from contend.mpi.launch import Launch, prepare
from contend.mpi.select import select
from contend.samples import Run
from contend.samples.statistics import median_interval
from contend.units import format_bytes

NETPIPE = "NPopenmpi"
LIMIT_S = 300.0
TRIALS = 7
ROUND_TRIPS = {
    1: 20_000,
    64: 20_000,
    1 << 10: 20_000,
    16 << 10: 2_000,
    64 << 10: 1_000,
    256 << 10: 200,
    1 << 20: 60,
}
"""In a trial, by message size."""
ROUND_TRIPS_OVER_NETWORK = {1: 200, 1 << 10: 200, 16 << 10: 50, 64 << 10: 20, 1 << 20: 2}
RATE = 100e6 / 8
# Longer than a cable takes for its burst of 16 KiB.
PAUSE_S = 0.005
Times = Mapping[int, float]
"""Seconds by message size."""

LOOP = """
import sys
import time
import numpy as np
from mpi4py import MPI

def buffer(size):
    whole = np.ones(size + 4096, dtype=np.uint8)
    first = -whole.ctypes.data % 4096
    return whole[first : first + size]

def timed(comm, size, repeats):
    mine, theirs = buffer(size * comm.size), buffer(size * comm.size)
    times = []
    for _ in range(repeats):
        time.sleep(float(sys.argv[2]))
        comm.Barrier()
        began = MPI.Wtime()
        comm.Alltoall(mine, theirs)
        times.append(MPI.Wtime() - began)
    longest = np.empty(repeats)
    comm.Reduce(np.array(times), longest, MPI.MAX)
    return np.median(longest[repeats // 10 :])

comm, repeats = MPI.COMM_WORLD, int(sys.argv[1])
alone = timed(MPI.COMM_SELF, 1, repeats)
for size in map(int, sys.argv[3:]):
    seconds = timed(comm, size, repeats) - alone
    if comm.rank == 0:
        print(size, seconds, flush=True)
"""


def run_program(library: Library, ranks: int, words: list[str], network: Network | None) -> str:
    """What another program prints, launched as our probes are."""
    request = Launch(library, ranks)
    if network is not None:
        request = network.on_hosts(request)
    with tempfile.TemporaryDirectory() as folder:
        _, command, environment = prepare(request, Path(folder))
        ended = subprocess.run(
            [*command, *words], env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )
    if ended.returncode != 0:
        raise SystemExit(f"{words[0]}: {ended.stderr.strip()}")
    return ended.stdout


def netpipe(
    library: Library, sizes: Mapping[int, int], folder: Path, network: Network | None
) -> Times:
    """Seconds one way of NetPIPE, by message size and round trips in a trial."""
    times = {}
    for size, inner in sizes.items():
        result = folder / "np.out"
        bounds = ["-l", str(size), "-u", str(size), "-p", "0", "-n", str(inner)]
        run_program(library, 2, [NETPIPE, *bounds, "-o", str(result)], network)
        words = result.read_text().split()
        times[int(words[0])] = float(words[2])
    return times


def our_pingpong(
    library: Library, sizes: Mapping[int, int], folder: Path, network: Network | None
) -> Times:
    """Seconds one way of our probe, by message size and round trips in a sample."""
    times = {}
    for size, inner in sizes.items():
        run = contend.measure(
            "pingpong",
            ranks=2,
            library=library.wrapper,
            folder=folder / "pingpong",
            bytes=size,
            inner=inner,
            run_in=None if network is None else EmulatedHosts(network),
            repetitions=f"{TRIALS}:{TRIALS}",
        )
        shutil.rmtree(run.folder)
        times[size] = float(run.summaries[0].used.min())
    return times


def loop(
    library: Library, ranks: int, sizes: list[int], repeats: int, network: Network | None
) -> Times:
    """Seconds of an all-to-all in a loop of mpi4py."""
    pause = 0.0 if network is None else PAUSE_S
    words = [sys.executable, "-c", LOOP, str(repeats), str(pause), *map(str, sizes)]
    lines = run_program(library, ranks, words, network).splitlines()
    return {int(size): float(seconds) for size, seconds in map(str.split, lines)}


def our_alltoall(
    library: Library,
    ranks: int,
    sizes: list[int],
    repeats: int,
    folder: Path,
    network: Network | None,
) -> Times:
    """Seconds of the library's all-to-all in our probe."""
    run = contend.measure(
        "alltoall",
        ranks=ranks,
        library=library.wrapper,
        folder=folder / "alltoall",
        algorithm="library",
        run_in=None if network is None else EmulatedHosts(network),
        bytes=",".join(map(str, sizes)),
        repetitions=f"{repeats}:{repeats}",
    )
    shutil.rmtree(run.folder)
    return {size: float(np.median(times)) for size, times in of_sizes(run).items()}


def library_of_mpi4py() -> Library:
    """The MPI library that mpi4py has found, which may be another than that of any wrapper."""
    asked = "from mpi4py import MPI; print(MPI.Get_library_version())"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    version = re.search(r"\d+\.\d+", told.stdout)
    assert version is not None
    return select(f"{'openmpi' if 'Open MPI' in told.stdout else 'mpich'}-{version[0]}")


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


def beside_netpipe(rounds: int, folder: Path, network: Network | None) -> None:
    """Compares ping-pongs, where NetPIPE is there."""
    if not shutil.which(NETPIPE):
        print(f"no {NETPIPE} here (Debian: netpipe-openmpi): ping-pong not compared")
        return
    # NetPIPE comes built with the Open MPI of the distribution.
    library = select("openmpi-4")
    trips = ROUND_TRIPS if network is None else ROUND_TRIPS_OVER_NETWORK
    compare(
        f"ping-pong beside NetPIPE, {where(library, network)}: one way, "
        f"shortest of {TRIALS} trials",
        lambda: our_pingpong(library, trips, folder, network),
        lambda: netpipe(library, trips, folder, network),
        rounds,
    )


def beside_mpi4py(rounds: int, ranks: int, folder: Path, network: Network | None) -> None:
    """Compares all-to-alls."""
    library = library_of_mpi4py()
    sizes = [1024, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20]
    repeats = 200 if network is None else 30
    compare(
        f"all-to-all of {ranks} ranks beside mpi4py, {where(library, network)}: "
        f"median of {repeats} calls",
        lambda: our_alltoall(library, ranks, sizes, repeats, folder, network),
        lambda: loop(library, ranks, sizes, repeats, network),
        rounds,
    )


def where(library: Library, network: Network | None) -> str:
    """Library and network for people."""
    path = "through memory" if network is None else "over 100 Mbit/s"
    return f"{library.name} {library.version} {path}"


def main() -> None:
    """Runs both comparisons, each where its program is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ranks", type=int, default=2, help="of the all-to-all")
    given = parser.parse_args()
    fabric = contend.Fabric.load(f"crossbar:{given.ranks}", need_routes=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with bring_up(fabric, RATE, lower=False) as network:
                beside_netpipe(given.rounds, folder, network)
                beside_mpi4py(given.rounds, given.ranks, folder, network)
        except MissingError as error:
            print(f"not compared over a network: {error}")
        beside_netpipe(given.rounds, folder, None)
        beside_mpi4py(given.rounds, given.ranks, folder, None)


if __name__ == "__main__":
    main()
