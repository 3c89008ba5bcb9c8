"""All-to-alls are counted by leaf and target: held to counting every pair of ranks by itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from contend.congestion import message_congestion, simulate
from contend.fabric import Fabric, remove_cables
from contend.routes import compute, load
from contend.traffic.pattern import parse
from contend.traffic.placement import Placement

# Every kind of fabric, up to 1,000 hosts, with an engine of its own or a general one.
ROUTED = (
    *("crossbar:16 minhop", "xgft:2;4,4;1,4 dmodk", "xgft:3;4,4,4;1,2,2 dmodk", "kary:4,3 updn"),
    *("fattree2:8 minhop", "fattree2:16;12,4 dmodk", "fattree3:8 dmodk", "clos:4,4,8 minhop"),
    *("director:288 minhop", "rails:2,8,4,8 minhop", "benes:8 minhop", "torus:4x4x4;2 dor"),
    *("mesh:5x5;3 dor", "ring:8;3 minhop", "hypercube:5;4 dor", "dragonfly:2,4,2 minhop"),
    *("hyperx:4x4;3 dor", "slimfly:5;5 minhop", "random:30,5,4 minhop", "fig1 minhop"),
    *("chic minhop", "tara minhop", "xgft:2;25,40;1,10 dmodk", "fattree2:44 minhop"),
)


def routed(name: str) -> Fabric:
    spec, engine = name.split()
    return load(spec, route=engine)


def every_pair(pattern: str, ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The messages of the pattern, one by one."""
    source, target = parse(pattern, ranks).messages(0)
    return source.astype(np.int64), target.astype(np.int64)


def compare(fabric: Fabric, host_of_rank: NDArray[np.uint32], pattern: str = "alltoall") -> None:
    """A simulation with the counts of all its messages."""
    ranks = len(host_of_rank)
    source, target = every_pair(pattern, ranks)
    expected = message_congestion(fabric, host_of_rank[source], host_of_rank[target])
    found = simulate(fabric, pattern, placement=Placement("given", host_of_rank), ranks=ranks)
    assert found.samples == 1
    assert np.array_equal(found.channel_load, expected.channel_messages)
    histogram = np.bincount(expected.congestion)
    assert np.array_equal(found.histogram, histogram)
    network = expected.congestion > 0
    assert found.messages == len(source)
    assert found.effective_bandwidth.mean == pytest.approx(
        expected.bandwidth[network].mean(), rel=1e-12
    )
    largest = found.max_congestion if found.max_slowdown is None else found.max_slowdown
    assert largest[0] == pytest.approx(1 / expected.bandwidth[network].min(), rel=1e-12)


@pytest.mark.parametrize("name", ROUTED)
def test_all_hosts_of_a_generated_fabric(name: str) -> None:
    fabric = routed(name)
    compare(fabric, np.arange(fabric.hosts, dtype=np.uint32))


@pytest.mark.parametrize("name", ROUTED)
def test_some_hosts_with_unequal_numbers_of_ranks(name: str) -> None:
    """In random order, some twice or more, about 400 at most: their squares are counted."""
    fabric = routed(name)
    random = np.random.default_rng(len(name))
    ranks = min(fabric.hosts, 400)
    compare(fabric, random.integers(0, fabric.hosts, ranks, dtype=np.uint32))


@pytest.mark.parametrize(
    "pattern",
    ["alltoall:4", "alltoall:4,between", "alltoall:60", "4 * alltoall", "3 * alltoall:2,between"],
)
@pytest.mark.parametrize("name", ["rails:2,8,4,8 minhop", "torus:4x4x4;2 dor", "fattree3:8 dmodk"])
def test_exchanges_between_blocks_and_within_rails(name: str, pattern: str) -> None:
    """Blocks of ranks, or copies, on hosts in order, and scattered with several ranks on some."""
    fabric = routed(name)
    ranks = fabric.hosts // 12 * 12
    if pattern == "alltoall:60":
        ranks = 60 * (fabric.hosts // 60) if fabric.hosts >= 120 else 0
    if ranks == 0:
        ranks, pattern = fabric.hosts, f"alltoall:{fabric.hosts // 2}"
    compare(fabric, np.arange(ranks, dtype=np.uint32), pattern)
    random = np.random.default_rng(ranks)
    compare(fabric, random.integers(0, fabric.hosts, ranks, dtype=np.uint32), pattern)


def test_several_exchanges_beside_each_other() -> None:
    fabric = routed("fattree2:16;12,4 dmodk")
    ranks = fabric.hosts
    for pattern in ("alltoall & alltoall", "alltoall & 2 * alltoall"):
        compare(fabric, np.arange(ranks - ranks % 4, dtype=np.uint32), pattern)


@pytest.mark.parametrize("seed", range(8))
def test_fabrics_that_miss_cables_and_carry_different_rates(seed: int) -> None:
    """Shares go by rate over load there."""
    spec = ("xgft:2;6,6;1,4", "torus:3x4x3;3", "random:20,6,5", "kary:4,3")[seed % 4]
    damaged = remove_cables(load(spec), 8, seed)
    random = np.random.default_rng(seed)
    rates = ("4xHDR", "4xEDR", "1xSDR")
    fabric = damaged.replace(
        cable_rate=random.integers(0, 3, damaged.cables).astype(damaged.cable_rate.dtype),
        host_rate=random.integers(0, 2, damaged.hosts).astype(damaged.host_rate.dtype),
        rates=rates,
    )
    fabric = compute(fabric, "minhop")
    compare(fabric, np.arange(fabric.hosts, dtype=np.uint32))
    compare(fabric, random.integers(0, fabric.hosts, 2 * fabric.hosts, dtype=np.uint32))


def test_placements_that_are_drawn_are_those_of_every_pair() -> None:
    """Another one in every sample: the same as when only half of the pattern is an exchange."""
    fabric = routed("fattree3:8 dmodk")
    found = simulate(fabric, "alltoall", ranks=100, samples=5, seed=3)
    assert found.samples == 5
    assert len(np.unique(found.bandwidth)) > 1
    again = simulate(fabric, "alltoall", ranks=100, samples=5, seed=3, threads=2)
    assert found.bandwidth.tobytes() == again.bandwidth.tobytes()
