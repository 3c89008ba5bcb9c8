"""Phases of route-aware all-to-alls beside their bound, and seconds, as Markdown.

    python tools/phase_counts.py [--data FOLDER] [--only FABRIC] [--seed N]

FOLDER holds the dumps of Selene (see CONTRIBUTING.md). Ranks sit on hosts drawn at random, in a
random order. Seconds are those of one core, with the look-up of the routes. Beside them what the
shift schedule costs there, if a barrier parts its phases: the sum over its phases of the largest
congestion.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import contend
from contend.base.errors import ContendError
from contend.congestion import message_congestion
from contend.fabric import Fabric
from contend.traffic.schedule import phases_by_routes

Make = Callable[[], Fabric]


def cases(data: Path) -> Iterator[tuple[str, Make, int, int]]:
    """Name, fabric, hosts and ranks per host of every case."""

    def routed(name: str, engine: str) -> tuple[str, Make]:
        return f"{name}, {engine}", lambda: contend.load(name, route=engine)

    yield (*routed("fig1", "dmodk"), 16, 1)
    yield (*routed("xgft:2;4,4;1,4", "minhop"), 16, 1)
    for engine in ("opensm:ftree", "opensm:minhop"):
        yield (*routed("chic", engine), 64, 1)
        yield (*routed("chic", engine), 128, 1)
    yield (*routed("chic", "opensm:ftree"), 512, 1)
    yield (*routed("chic", "opensm:ftree"), 64, 4)
    for part in ("storage", "compute"):
        network = data / f"selene.{part}.ibnetdiscover.xz"
        tables = data / f"selene.{part}.minhop.opensm-lfts.xz"
        if network.exists() and tables.exists():
            made: tuple[str, Make] = (
                f"Selene {part}, minhop",
                lambda network=network, tables=tables: contend.load(network, routes=tables),
            )
            for hosts in (128, 512, 1024) if part == "compute" else (128, 512):
                yield (*made, hosts, 1)
    yield (*routed("xgft:2;32,32;1,32", "dmodk"), 1024, 1)
    yield (*routed("torus:6x6;2", "contend"), 72, 1)
    yield (*routed("torus:4x4x4;2", "contend"), 128, 1)
    yield (*routed("random:40,8,4", "contend"), 128, 1)
    yield (*routed("dragonfly:2,4,2", "contend"), 64, 1)


def shift_cost(fabric: Fabric, hosts: NDArray[np.int64]) -> int:
    """Phases of one message's time that the shift schedule takes with barriers."""
    ranks = np.arange(len(hosts))
    cost = 0
    for places in range(1, len(hosts)):
        target = hosts[(ranks + places) % len(hosts)]
        between = hosts != target
        cost += int(message_congestion(fabric, hosts[between], target[between]).congestion.max())
    return cost


def main() -> None:
    """Prints a row for every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| fabric | ranks | phases | bound | ratio | seconds | shift costs |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, make, count, each in cases(asked.data):
        if asked.only and not name.startswith(asked.only):
            continue
        try:
            fabric = make()
        except ContendError as error:
            print(f"| {name} | {count * each} | {error} | | | | |", flush=True)
            continue
        random = np.random.default_rng(asked.seed)
        hosts = random.permutation(fabric.hosts)[:count].repeat(each)
        random.shuffle(hosts)
        started = time.perf_counter()
        phases = phases_by_routes(fabric, hosts)
        seconds = time.perf_counter() - started
        print(
            f"| {name} | {len(hosts)} | {len(phases)} | {phases.bound} | "
            f"{len(phases) / phases.bound:.3f} | {seconds:.2f} | {shift_cost(fabric, hosts)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
