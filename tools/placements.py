"""Placements beside each other: time of the most loaded channels, mean congestion; as Markdown.

    python tools/placements.py [--data FOLDER] [--profiles FOLDER] [--kept FILE] [--only FABRIC]

A job of as many hosts as ranks, drawn at random from the fabric, is seated in the order of names,
at random (the best of 20), breadth-first, by SCOTCH (Debian's scotch: the better of its gmap on the
decomposition of the fabric's graph by amk_grf, and on the job's part of its own torus or tree of
two levels), and by contend. FOLDER of --data holds the dumps of Selene (see CONTRIBUTING.md), that
of --profiles profiles of programs. FILE keeps results.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import contend
from contend.congestion import PhasedTraffic, judge_seats
from contend.cure import place, sent_by
from contend.fabric import Fabric
from contend.traffic.placement import parse

WAYS = ("linear", "random", "breadth-first", "scotch", "contend")
DRAWN = 20


def fabrics(data: Path) -> dict[str, Callable[[], Fabric]]:
    """Every fabric by its name; real ones only where their dumps are."""
    made: dict[str, Callable[[], Fabric]] = {
        "chic, minhop": lambda: contend.load("chic", route="minhop"),
        "torus:8x8x8;1, dor": lambda: contend.load("torus:8x8x8;1", route="dor"),
    }
    dump = data / "selene.compute.ibnetdiscover.xz"
    if dump.exists():
        tables = data / "selene.compute.minhop.opensm-lfts.xz"
        made["Selene compute, minhop"] = lambda: contend.load(dump, routes=tables)
    return made


def pencils(rows: int, columns: int, folder: Path) -> str:
    """All-to-alls among the ranks of every row, then among those of every column, as a pattern."""
    path = folder / f"pencils-{rows}x{columns}.csv"
    lines = ["round,source,target"]
    for rank in range(rows * columns):
        row, column = divmod(rank, columns)
        lines += [f"0,{rank},{row * columns + c}" for c in range(columns) if c != column]
        lines += [f"1,{rank},{r * columns + column}" for r in range(rows) if r != row]
    path.write_text("\n".join(lines))
    return f"file:{path}"


@functools.cache
def traffic_of(source: str, ranks: int) -> PhasedTraffic:
    """What ranks send; a profile is read once."""
    return sent_by(source, ranks).traffic


def jobs(folder: Path, profiles: Path | None) -> dict[str, tuple[str, int]]:
    """Traffic and number of ranks by name."""
    found = {
        "halo 2-d, 16x32": ("halo:16x32", 512),
        "halo 3-d, 8x8x8": ("halo:8x8x8", 512),
        "FFT pencils, 16x16": (pencils(16, 16, folder), 256),
    }
    for path in sorted(profiles.iterdir()) if profiles else []:
        ranks = traffic_of(str(path), 0).ranks
        found[f"{path.stem}, {ranks} ranks"] = (str(path), ranks)
    return found


def scotch(
    fabric: Fabric, hosts: Sequence[int], traffic: PhasedTraffic, folder: Path
) -> list[list[int]]:
    """Host of every rank by gmap: on the decomposition of the fabric's graph, and on its own model.

    A host is a vertex of its own, a cable an edge of length 1; cables side by side are one.
    """
    ends = {
        (min(a, b), max(a, b))
        for a, b in zip(fabric.cable_from.tolist(), fabric.cable_to.tolist(), strict=True)
    }
    number = {host: fabric.switches + at for at, host in enumerate(hosts)}
    ends |= {(int(fabric.host_switch[host]), number[host]) for host in hosts}
    _write_graph(folder / "fabric.grf", fabric.switches + len(hosts), dict.fromkeys(ends, 1))
    listed = "\n".join(map(str, (len(hosts), *number.values())))
    (folder / "hosts.txt").write_text(f"{listed}\n")
    pairs: dict[tuple[int, int], float] = {}
    columns = (traffic.source.tolist(), traffic.target.tolist(), traffic.bytes.tolist())
    for source, target, size in zip(*columns, strict=True):
        pair = (min(source, target), max(source, target))
        pairs[pair] = pairs.get(pair, 0.0) + size
    scale = 1000 / max(pairs.values())
    weights = {pair: max(round(size * scale), 1) for pair, size in pairs.items()}
    _write_graph(folder / "ranks.grf", traffic.ranks, weights)
    _call(folder, "amk_grf", "fabric.grf", "fabric.tgt", "-lhosts.txt")
    (folder / "model.tgt").write_text(_model(fabric, hosts))
    orders = []
    for target, host_of in (
        ("fabric.tgt", {vertex: host for host, vertex in number.items()}),
        ("model.tgt", dict(enumerate(hosts))),
    ):
        _call(folder, "scotch_gmap", "ranks.grf", target, "ranks.map")
        lines = (folder / "ranks.map").read_text().split("\n")[1:]
        at = dict(tuple(map(int, line.split())) for line in lines if line.strip())
        orders.append([host_of[at[rank]] for rank in range(traffic.ranks)])
    return orders


def _model(fabric: Fabric, hosts: Sequence[int]) -> str:
    """The job's hosts as part of SCOTCH's torus, or of its tree of leaf switches."""
    if fabric.name.startswith("torus:8x8x8"):
        vertices = [int(fabric.host_switch[host]) for host in hosts]
        whole = "torus3D 8 8 8"
    else:
        leaves = sorted(set(fabric.host_switch.tolist()))
        on = {leaf: np.flatnonzero(fabric.host_switch == leaf).tolist() for leaf in leaves}
        widest = max(map(len, on.values()))
        vertices = []
        for host in hosts:
            leaf = int(fabric.host_switch[host])
            vertices.append(leaves.index(leaf) * widest + on[leaf].index(host))
        whole = f"tleaf 2 {len(leaves)} 10 {widest} 1"
    return f"sub\n{len(hosts)} {' '.join(map(str, vertices))}\n{whole}\n"


def _call(folder: Path, *words: str) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)


def _write_graph(path: Path, vertices: int, edges: dict[tuple[int, int], int]) -> None:
    """A graph in SCOTCH's form, with weights of edges."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(vertices)]
    for (a, b), weight in edges.items():
        near[a].append((weight, b))
        near[b].append((weight, a))
    lines = ["0", f"{vertices} {2 * len(edges)}", "0 010"]
    for own in near:
        words = [str(len(own)), *(f"{weight} {end}" for weight, end in sorted(own, key=str))]
        lines.append(" ".join(words))
    path.write_text("\n".join(lines) + "\n")


def seats(way: str, fabric: Fabric, job: Sequence[int], source: str, folder: Path) -> list[Any]:
    """Orders of the job's hosts by one way: several of random ones, else one."""
    if way == "linear":
        return [job]
    if way == "random":
        return [np.random.default_rng(n).permutation(job) for n in range(DRAWN)]
    if way == "breadth-first":
        return [parse("bfs", fabric, hosts=list(job)).hosts]
    if way == "scotch":
        return scotch(fabric, job, traffic_of(source, len(job)), folder)
    return [
        place(source, fabric, hosts=list(job), ranks=len(job), ranks_per_host=1).placement.hosts
    ]


def measure(fabric: Fabric, source: str, ranks: int, folder: Path) -> dict[str, Any]:
    """Figures of every way: [time, mean congestion, hop-bytes], and the seconds that it took."""
    drawn: NDArray[np.int64] = np.random.default_rng(1).permutation(fabric.hosts)[:ranks]
    job = [host for host in parse("linear", fabric).hosts.tolist() if host in set(drawn.tolist())]
    traffic = traffic_of(source, ranks)
    found: dict[str, Any] = {}
    for way in WAYS:
        started = time.perf_counter()
        orders = seats(way, fabric, job, source, folder)
        seconds = time.perf_counter() - started
        figures = [judge_seats(fabric, traffic, order) for order in orders]
        each = [(f.busy, f.mean_congestion, f.hop_bytes) for f in figures]
        found[way] = {"figures": min(each), "seconds": seconds}
        if way == "random":
            found[way]["median"] = statistics.median(figures[0] for figures in each)
    return found


def main() -> None:
    """Measures what is not kept yet and prints the table: each way's figures over contend's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--profiles", type=Path)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--only", action="append")
    asked = parser.parse_args()
    kept = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        every = jobs(folder, asked.profiles)
        for name, make in fabrics(asked.data).items():
            missing = [job for job in every if f"{name}: {job}" not in kept]
            if not missing or (asked.only and name not in asked.only):
                continue
            fabric = make()
            for job in missing:
                kept[f"{name}: {job}"] = measure(fabric, *every[job], folder)
                print(f"{name}: {job}: {kept[f'{name}: {job}']}", flush=True)
                if asked.kept:
                    asked.kept.write_text(json.dumps(kept, indent=1))
    print(f"| fabric | traffic | {' | '.join(WAYS)} | seconds |")
    print(f"|---|---|{'---:|' * len(WAYS)}---:|")
    for case, result in kept.items():
        name, _, job = case.rpartition(": ")
        times = [result[way]["figures"] for way in WAYS]
        unit = times[-1][0]
        cells = [f"{busy / unit:.2f} ({pi:.1f})" for busy, pi, _ in times]
        print(f"| {name} | {job} | {' | '.join(cells)} | {result['contend']['seconds']:.1f} |")


if __name__ == "__main__":
    main()
