"""Our probes beside programs of others: NetPIPE's ping-pong, and a loop around mpi4py's Alltoall.

Both are launched in turns, size after size and round after round, with the same library, launcher
and ranks: over an emulated network of 100 Mbit/s, or of what this machine carries, where this user
may make one, and through this machine's memory. A round is three launches of each in turns, of
which the best counts, as the processors of a virtual machine move: for seconds at a time all that
goes from one to the other takes half or twice as long. It gives one ratio for each size, ours to
theirs; what is printed is the median of these with its 95 % interval, which should lie between 0.9
and 1.1. Each is read as the other reads itself:

* NetPIPE keeps the shortest of seven trials, each the mean of N round trips back to back, and sends
  a message back from where it arrived; so do we (`--algorithm bounce --inner N`, seven samples, the
  shortest). N is such that a trial takes about 20 ms.
* The loop waits in a barrier, times one call, and keeps the longest time of any rank, less what the
  same call costs with nobody to send to, which is Python's part; we start on a synchronised clock
  and keep the latest end minus the earliest start. Both keep the median, and both have buffers that
  begin with a page. Python's part is 1 to 2 us: sizes are those whose calls take long against that
  and, over the network, send more than the 16 KiB that an emulated cable lets through at once.
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
from typing import Any

import numpy as np

import contend
from contend.base.errors import MissingError
from contend.base.units import format_bytes, format_link_speed
from contend.lab.emulation import EmulatedHosts, Network, bring_up
from contend.lab.mpi import Launch, Library, prepare, select
from contend.lab.runs import median_interval

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
ROUND_TRIPS_OVER_NETWORK = {
    1: 1_000,
    64: 1_000,
    1 << 10: 200,
    16 << 10: 20,
    64 << 10: 5,
    1 << 20: 1,
}
CALLS = {64 << 10: 1_000, 256 << 10: 500, 1 << 20: 200}
"""In a launch, by bytes to each rank."""
CALLS_OVER_NETWORK = {16 << 10: 100, 64 << 10: 30, 256 << 10: 10, 1 << 20: 10}
RATE = 100e6 / 8
Seconds = Callable[[int, int], float]
"""Of a message of so many bytes, with so many repeats."""

LOOP = """
import sys
import numpy as np
from mpi4py import MPI

def buffer(size):
    whole = np.ones(size + 4096, dtype=np.uint8)
    first = -whole.ctypes.data % 4096
    return whole[first : first + size]

def timed(comm, size, calls):
    mine, theirs = buffer(size * comm.size), buffer(size * comm.size)
    times = []
    for _ in range(calls):
        comm.Barrier()
        began = MPI.Wtime()
        comm.Alltoall(mine, theirs)
        times.append(MPI.Wtime() - began)
    longest = np.empty(calls)
    comm.Reduce(np.array(times), longest, MPI.MAX)
    return np.median(longest[calls // 10 :])

comm, size, calls = MPI.COMM_WORLD, int(sys.argv[1]), int(sys.argv[2])
seconds = timed(comm, size, calls) - timed(MPI.COMM_SELF, 1, calls)
if comm.rank == 0:
    print(seconds)
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


def netpipe(library: Library, network: Network | None, folder: Path) -> Seconds:
    """One way of NetPIPE's messages; repeats are round trips in a trial."""

    def seconds(size: int, inner: int) -> float:
        result = folder / "np.out"
        bounds = ["-l", str(size), "-u", str(size), "-p", "0", "-n", str(inner)]
        run_program(library, 2, [NETPIPE, *bounds, "-o", str(result)], network)
        return float(result.read_text().split()[2])

    return seconds


def our_results(
    probe: str, library: Library, ranks: int, network: Network | None, folder: Path, **options: Any
) -> np.ndarray:
    """The results of the one cell that one of our probes measured, in seconds."""
    run = contend.measure(
        probe,
        ranks=ranks,
        mpi=library,
        output=folder / probe,
        hosts=None if network is None else EmulatedHosts(network),
        precision=0,
        **options,
    )
    shutil.rmtree(run.folder)
    return run.summaries[0].used


def our_pingpong(library: Library, network: Network | None, folder: Path) -> Seconds:
    """One way of our probe's messages; repeats are round trips in a sample."""

    def seconds(size: int, inner: int) -> float:
        options = {"algorithm": "bounce", "bytes": size, "inner": inner}
        trials = f"{TRIALS}:{TRIALS}"
        found = our_results("pingpong", library, 2, network, folder, **options, repetitions=trials)
        return float(found.min())

    return seconds


def loop(library: Library, ranks: int, network: Network | None) -> Seconds:
    """An all-to-all in a loop of mpi4py; repeats are calls."""

    def seconds(size: int, calls: int) -> float:
        words = [sys.executable, "-c", LOOP, str(size), str(calls)]
        return float(run_program(library, ranks, words, network))

    return seconds


def our_alltoall(library: Library, ranks: int, network: Network | None, folder: Path) -> Seconds:
    """The library's all-to-all in our probe; repeats are samples."""

    def seconds(size: int, samples: int) -> float:
        options = {"algorithm": "library", "bytes": size, "repetitions": f"{samples}:{samples}"}
        options["start"] = "clock"
        return float(np.median(our_results("alltoall", library, ranks, network, folder, **options)))

    return seconds


def library_of_mpi4py() -> Library:
    """The MPI library that mpi4py has found, which may be another than that of any wrapper."""
    asked = "from mpi4py import MPI; print(MPI.Get_library_version())"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    version = re.search(r"\d+\.\d+", told.stdout)
    assert version is not None
    return select(f"{'openmpi' if 'Open MPI' in told.stdout else 'mpich'}-{version[0]}")


def compare(
    title: str,
    ours: Seconds,
    theirs: Seconds,
    repeats: Mapping[int, int],
    rounds: int,
    launches: int,
) -> None:
    """Runs both in turns and prints the ratios, by message size."""
    print(f"{title}; {rounds} rounds, each the best of {launches} launches")
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in repeats}
    for _ in range(rounds):
        for size, times in repeats.items():
            own, other = [], []
            for number in range(launches):
                # Whoever is first finds the machine as the other left it.
                first = (len(found[size]) + number) % 2
                for turn in (first, 1 - first):
                    if turn:
                        own.append(ours(size, times))
                    else:
                        other.append(theirs(size, times))
            found[size].append((min(own), min(other)))
    print("     bytes        ours      theirs   ratio   95 % interval")
    for size, pairs in found.items():
        own_median, other_median = np.median(pairs, axis=0) * 1e6
        ratio = median_interval(np.array([own / other for own, other in pairs]))
        low, high = ratio.low or np.nan, ratio.high or np.nan
        told = "" if low >= 0.9 and high <= 1.1 else "   outside 0.9 to 1.1"
        print(
            f"{format_bytes(size):>10} {own_median:8.2f} us {other_median:8.2f} us"
            f" {ratio.value:7.3f}   {low:.3f} to {high:.3f}{told}",
            flush=True,
        )


def beside_netpipe(rounds: int, launches: int, folder: Path, network: Network | None) -> None:
    """Compares ping-pongs, where NetPIPE is there."""
    if not shutil.which(NETPIPE):
        print(f"no {NETPIPE} here (Debian: netpipe-openmpi): ping-pong not compared")
        return
    # NetPIPE comes built with the Open MPI of the distribution.
    library = select("openmpi-4")
    compare(
        f"ping-pong beside NetPIPE, {where(library, network)}: one way, "
        f"shortest of {TRIALS} trials",
        our_pingpong(library, network, folder),
        netpipe(library, network, folder),
        ROUND_TRIPS if network is None else ROUND_TRIPS_OVER_NETWORK,
        rounds,
        launches,
    )


def beside_mpi4py(
    rounds: int, launches: int, ranks: int, folder: Path, network: Network | None
) -> None:
    """Compares all-to-alls."""
    library = library_of_mpi4py()
    compare(
        f"all-to-all of {ranks} ranks beside mpi4py, {where(library, network)}: median of calls",
        our_alltoall(library, ranks, network, folder),
        loop(library, ranks, network),
        CALLS if network is None else CALLS_OVER_NETWORK,
        rounds,
        launches,
    )


def where(library: Library, network: Network | None) -> str:
    """Library and network for people."""
    path = (
        "through memory"
        if network is None
        else f"over cables of {format_link_speed(network.settings.rate)}"
    )
    return f"{library.name} {library.version} {path}"


def main() -> None:
    """Runs both comparisons, each where its program is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--launches", type=int, default=3, help="of each in a round")
    parser.add_argument("--ranks", type=int, default=2, help="of the all-to-all")
    given = parser.parse_args()
    fabric = contend.load(f"crossbar:{given.ranks}", need_routes=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with bring_up(fabric, RATE) as network:
                beside_netpipe(given.rounds, given.launches, folder, network)
                beside_mpi4py(given.rounds, given.launches, given.ranks, folder, network)
        except MissingError as error:
            print(f"not compared over a network: {error}")
        beside_netpipe(given.rounds, given.launches, folder, None)
        beside_mpi4py(given.rounds, given.launches, given.ranks, folder, None)


if __name__ == "__main__":
    main()
