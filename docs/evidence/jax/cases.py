"""Collectives of JAX on emulated rails, predicted before they are measured.

    python cases.py predict      writes predicted.csv, from the routes and the rate of cables alone
    python cases.py measure      appends to measured.csv what is not there yet; needs root
    python cases.py compare      prints every case

Eight servers have two adapters each, and each adapter has a process of JAX, as if it had a GPU. The
eight processes of a rail carry out an all-reduce by gloo's ring, or an all-to-all; both rails do
so at once. CONTEND_JAX names a Python that has jax[cpu] (0.10.2); without, it is this one.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from polars import DataFrame

import contend
from contend.congestion import DrawnPattern, message_shares
from contend.fabric import Fabric

HERE = Path(__file__).parent
SERVERS, RAILS = 8, 2
NETWORKS = {
    "full": ("rails:2,4,2,4", None),
    "2:1": ("rails:2,4,2,2", None),
    "a spine less": ("rails:2,4,2,4", ["spine 1"]),
}
PLACEMENTS = ("aligned", "crossed")
COLLECTIVES = ("all-reduce", "all-to-all")
SIZES = (1 << 20, 1 << 21)
RATE, BUFFER = 10e6 / 8, 1_000_000
# Of a frame of 1514 bytes TCP carries 1448 of a program's.
GAMMA = RATE * 1448 / 1514
REPEATS = 3
COLUMNS = ("network", "placement", "collective", "bytes")


def network(name: str) -> Fabric:
    """One of the networks, with its routes."""
    source, without = NETWORKS[name]
    return contend.load(source, route="minhop", without=without)


def hosts(placement: str) -> list[list[int]]:
    """The adapter of every server, in the order of ranks, on every rail: shape [rails, servers]."""
    adapters = np.arange(SERVERS * RAILS).reshape(SERVERS, RAILS).T
    if placement == "aligned":
        return adapters.tolist()
    # Every second server of a unit has its adapters swapped; and servers of both units in turn.
    adapters[:, 1::2] = adapters[::-1, 1::2].copy()
    order = [server + unit * SERVERS // 2 for server in range(SERVERS // 2) for unit in range(2)]
    return adapters[:, order].tolist()


def predicted(fabric: Fabric, placement: str, collective: str) -> float:
    """Bus bandwidth as a part of what a port carries.

    A ring goes on at the pace of its slowest message. An all-to-all takes as long as its hottest
    channel has to carry.
    """
    rails = hosts(placement)
    if collective == "all-reduce":
        # gloo sends to the rank before.
        pairs = [(rail[at], rail[at - 1]) for rail in rails for at in range(SERVERS)]
        return float(shares(fabric, pairs)["fair_share"].min())
    pairs = [(a, b) for rail in rails for a in rail for b in rail if a != b]
    return (SERVERS - 1) / float(shares(fabric, pairs)["congestion"].max())


def shares(fabric: Fabric, pairs: list[tuple[int, int]]) -> DataFrame:
    """Congestion and shares of messages that are under way together."""
    source, target = (np.array(ends, dtype=np.uint32) for ends in zip(*pairs, strict=True))
    every = np.arange(fabric.hosts, dtype=np.uint32)
    messages = DrawnPattern("given", "linear", 0, 0, every, ((source, target),))
    return message_shares(fabric, [messages])


def predict() -> None:
    """Writes down what every case should show."""
    with (HERE / "predicted.csv").open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow((*COLUMNS, "bus_Bps"))
        for name in NETWORKS:
            fabric = network(name)
            for placement in PLACEMENTS:
                for collective in COLLECTIVES:
                    bus = GAMMA * predicted(fabric, placement, collective)
                    for size in SIZES:
                        write.writerow((name, placement, collective, size, round(bus)))


def measure() -> None:
    """Measures what is not measured yet, a network and a placement at a time."""
    path = HERE / "measured.csv"
    if not path.exists():
        path.write_text(",".join((*COLUMNS, "repeat", "seconds", "load")) + "\n")
    for name in NETWORKS:
        for placement in PLACEMENTS:
            done = {(row["network"], row["placement"]) for row in rows(path)}
            if (name, placement) not in done:
                lines = list(measured(name, placement))
                with path.open("a", newline="") as file:
                    csv.writer(file).writerows(lines)


def measured(name: str, placement: str) -> Iterator[tuple[object, ...]]:
    """Times from the first start to the last end of each collective, ranks on their adapters."""
    places = np.array(hosts(placement)).T.ravel().tolist()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "start", folder, ",".join(map(str, places))]
        emulation = contend.emulate(
            network(name), command, rate=RATE, buffer=BUFFER, keep_rate=True, unchecked=True
        )
        if emulation.status:
            raise SystemExit(f"{name}, {placement}: ended with status {emulation.status}")
        ranks = [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))]
    print(name, placement, emulation.traffic.drops, "packets dropped", flush=True)
    for at, (collective, size, repeat, *_) in enumerate(ranks[0]):
        began, ended = (agg(rank[at][k] for rank in ranks) for agg, k in ((min, 3), (max, 4)))
        load = round(os.getloadavg()[0], 1)
        yield name, placement, collective, size, repeat, round(ended - began, 4), load


def start(folder: str, places: str) -> None:
    """Within the emulated fabric: starts a process on every adapter."""
    names = Path(os.environ["CONTEND_HOSTS"]).read_text().split()
    python = os.environ.get("CONTEND_JAX", sys.executable)
    worker = str(HERE / "worker.py")
    asked = json.dumps([COLLECTIVES, SIZES, REPEATS, SERVERS, RAILS])
    running = [
        subprocess.Popen(["on", names[int(host)], python, worker, folder, str(rank), asked])
        for rank, host in enumerate(places.split(","))
    ]
    raise SystemExit(max(abs(each.wait()) for each in running))


def rows(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def compare() -> None:
    """Prints every case, and how far the predictions are off."""
    found: dict[tuple[str, ...], list[float]] = {}
    for row in rows(HERE / "measured.csv"):
        found.setdefault(tuple(row[name] for name in COLUMNS), []).append(float(row["seconds"]))
    print("network       placement  collective   MiB   predicted, measured kB/s      off")
    errors = []
    for row in rows(HERE / "predicted.csv"):
        key, bus = tuple(row[name] for name in COLUMNS), float(row["bus_Bps"])
        line = f"{key[0]:13} {key[1]:10} {key[2]:11} {int(key[3]) >> 20:4} {bus / 1e3:7.0f} kB/s"
        if key in found:
            factor = (2 if key[2] == "all-reduce" else 1) * (SERVERS - 1) / SERVERS
            got = factor * int(key[3]) / statistics.median(found[key])
            errors.append(got / bus - 1)
            line += f" {got / 1e3:6.0f} {100 * errors[-1]:+6.1f} %"
        print(line)
    if errors:
        median = statistics.median(map(abs, errors))
        print(f"{len(errors)} cases; off by {100 * median:.1f} % in the median")


if __name__ == "__main__":
    {"predict": predict, "measure": measure, "start": start, "compare": compare}[sys.argv[1]](
        *sys.argv[2:]
    )
