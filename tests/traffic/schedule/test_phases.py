"""Phases that know the routes: every promise looked at with the fabric's own routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from contend.base.errors import UsageError
from contend.fabric import Fabric
from contend.routes import find_route, load
from contend.traffic.schedule import Phases, phases_by_routes


def scattered(fabric: Fabric, ranks: int, seed: int = 1) -> list[int]:
    return np.random.default_rng(seed).permutation(fabric.hosts)[:ranks].tolist()


def loads(fabric: Fabric, messages: Sequence[tuple[int, int]]) -> Counter[int]:
    """Messages between hosts on every channel, ports included."""
    return Counter(
        channel
        for source, target in messages
        if source != target
        for channel in find_route(fabric, source, target).channels
    )


def check(fabric: Fabric, hosts: Sequence[int], phases: Phases) -> None:
    """Each pair once, never both ways at once, no channel twice in a phase, and the bound."""
    ranks = len(hosts)
    assert phases.target.shape == phases.source.shape == (ranks, len(phases))
    sent = []
    for target, source in zip(phases.target.T.tolist(), phases.source.T.tolist(), strict=True):
        messages = [(rank, to) for rank, to in enumerate(target) if to >= 0]
        assert messages == sorted((other, rank) for rank, other in enumerate(source) if other >= 0)
        assert not {(to, rank) for rank, to in messages} & set(messages)
        used = loads(fabric, [(hosts[rank], hosts[to]) for rank, to in messages])
        assert max(used.values(), default=0) <= 1
        sent += messages
    everyone = [(s, t) for s in range(ranks) for t in range(ranks) if s != t]
    assert sorted(sent) == everyone
    whole = loads(fabric, [(hosts[s], hosts[t]) for s, t in everyone])
    least = max(ranks - 1, *whole.values()) if whole else ranks - 1
    assert phases.bound == max(least, ranks if ranks in (2, 4) else 0)


@pytest.mark.parametrize(
    ("fabric", "route", "ranks", "most"),
    [
        ("xgft:2;4,4;1,4", "minhop", 16, 1.1),
        ("fig1", "dmodk", 16, 1.25),
        ("torus:4x4;2", "contend", 32, 1.25),
        ("xgft:2;8,8;1,8", "dmodk", 64, 1.1),
        ("chic", "dmodk", 64, 1.1),
        ("chic", "minhop", 64, 1.1),
    ],
)
def test_phases_are_near_the_bound(fabric: str, route: str, ranks: int, most: float) -> None:
    network = load(fabric, route=route)
    hosts = scattered(network, ranks)
    phases = phases_by_routes(network, hosts)
    check(network, hosts, phases)
    assert len(phases) <= most * phases.bound


def test_the_same_whenever_they_are_asked_for() -> None:
    network = load("xgft:2;4,4;1,4", route="minhop")
    once, again = (phases_by_routes(network, range(16)) for _ in range(2))
    assert (once.target == again.target).all()
    assert repr(once) == f"<{len(once)} phases of 16 ranks, 15 at least>"


def test_a_file_of_phases_is_a_pattern_of_as_many_rounds(tmp_path: Path) -> None:
    phases = phases_by_routes(load("xgft:2;4,2;1,1", need_routes=True), range(8))
    path = tmp_path / "phases.txt"
    phases.write(path)
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    read = np.array([[-1 if word == "-" else int(word) for word in row] for row in rows])
    assert (phases.target == read.T).all()


def test_hosts_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match=r"expected hosts 0 \.\. 3 of ranks"):
        phases_by_routes(load("crossbar:4", need_routes=True), [0, 4])
    with pytest.raises(UsageError, match=r"expected hosts 0 \.\. 3 of ranks"):
        phases_by_routes(load("crossbar:4", need_routes=True), [])
