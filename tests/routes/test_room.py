"""What no machine holds is refused before the memory is gone: tables and next hops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contend import _core
from contend.base.errors import MissingError, UsageError
from contend.congestion import simulate
from contend.fabric import Fabric, make
from contend.routes import Ways, compute, make_resolver
from contend.routes.addresses import expect_room
from contend.routes.multipath import split


def resolve(fabric: Fabric, memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepares the routes of all hosts on a machine with so many bytes."""
    sizes = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": memory}
    with monkeypatch.context() as patch:
        patch.setattr("os.sysconf", sizes.__getitem__)
        hosts = np.arange(fabric.hosts, dtype=np.uint32)
        make_resolver(fabric, hosts, follows=Ways.DRAWN | Ways.SPLIT | Ways.TOGETHER | Ways.SOLVED)


@pytest.mark.parametrize(
    ("engine", "each"), [("ecmp", 4), ("adaptive", 4), ("spray", 8), ("valiant", 32), ("ugal", 56)]
)
def test_next_hops_need_some_bytes_for_every_two_switches(
    engine: str, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = compute(make("slimfly:5"), engine)
    size = each * 50 * 50
    resolve(fabric, size, monkeypatch)
    with pytest.raises(MissingError, match=f"of {engine} on slimfly:5 need .*; fewer hosts need"):
        resolve(fabric, size - 1, monkeypatch)


@pytest.mark.parametrize(
    ("engine", "each"), [("valiant", split._OF_VALIANT), ("ugal", split._OF_UGAL)]
)
@pytest.mark.parametrize("threads", [1, 3])
def test_fewer_threads_count_where_memory_has_no_room_for_all(
    engine: str, each: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused has no room for one; more count where each has room for its round."""
    fabric = compute(make("slimfly:5"), engine)
    hosts = np.arange(fabric.hosts, dtype=np.uint32)
    resolver = make_resolver(fabric, hosts, follows=Ways.SPLIT | Ways.TOGETHER | Ways.SOLVED)
    assert resolver.bytes_of_round == each * 50 * 50
    used: list[int] = []
    count = _core.simulate

    def counted(*arguments: Any) -> dict[str, Any]:
        used.append(arguments[-2])
        return count(*arguments)

    monkeypatch.setattr(_core, "simulate", counted)
    memory = resolver.bytes + threads * resolver.bytes_of_round
    monkeypatch.setattr("contend.congestion.simulation.counting.machine_memory", lambda: memory)
    few = simulate(fabric, samples=4, threads=8)
    assert set(used) == {threads}
    monkeypatch.undo()
    assert few.bandwidth.tolist() == simulate(fabric, samples=4, threads=8).bandwidth.tolist()


@pytest.mark.parametrize(
    ("spec", "instead"),
    [
        ("fattree3:8", "minhop, dmodk, ecmp and spray need none on such a tree$"),
        ("rails:4,2,2,8;1;4,2", " minhop, ecmp and spray need none on such a tree$"),
        ("dragonfly:2,4,2", "ecmp and spray need none on such a dragonfly$"),
        ("torus:3x4", "dor, ecmp and spray need none on such a grid$"),
    ],
)
def test_the_refusal_names_engines_that_need_none(
    spec: str, instead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingError, match=instead):
        resolve(compute(make(spec), "adaptive"), 1, monkeypatch)


def test_ideal_ways_on_too_many_switches_are_refused_before_they_are_searched() -> None:
    fabric = compute(make("torus:216x216;1"), "adaptive")
    ends = np.arange(fabric.hosts, dtype=np.uint32)
    with pytest.raises(UsageError, match=r"at most 2,147,483,648 .* has 2,176,782,336: take fewer"):
        make_resolver(fabric, ends, follows=Ways.TOGETHER | Ways.SOLVED | Ways.SPLIT)
    make_resolver(fabric, ends[:5], follows=Ways.TOGETHER | Ways.SOLVED | Ways.SPLIT)


def test_routes_by_a_formula_need_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(compute(make("fattree3:8"), "ecmp"), 1, monkeypatch)


def test_tables_that_a_machine_cannot_hold_are_refused_with_their_size() -> None:
    fabric = make("fattree3:8")
    # 80 switches, 208 addresses and address 0, two bytes each.
    size = 2 * 80 * (208 + 1)
    expect_room(fabric, size)
    with pytest.raises(MissingError, match=r"tables of fattree3:8 need 32\.66 KiB"):
        expect_room(fabric, size - 1)
    with pytest.raises(MissingError, match=r"; others need none$"):
        expect_room(fabric, size - 1, instead=lambda: "others need none")


@pytest.mark.parametrize(
    ("spec", "instead"),
    [
        ("fattree3:8", "; minhop, dmodk, ecmp and spray need none on such a tree$"),
        ("torus:3x4", "; dor, ecmp and spray need none on such a grid$"),
        ("dragonfly:2,4,2", "; ecmp and spray need none on such a dragonfly$"),
    ],
)
def test_an_engine_without_a_formula_is_refused_what_no_machine_holds(
    spec: str, instead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    with pytest.raises(MissingError, match=instead):
        compute(make(spec), "dor")


def test_tables_of_routes_that_are_computed_are_refused_with_what_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routed = compute(make("fattree3:8"), "minhop")
    assert make_resolver(routed, np.arange(9, dtype=np.uint32)).places == 9
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    with pytest.raises(MissingError, match=r"; contend simulate needs none, unless --plot asks"):
        _ = routed.tables
