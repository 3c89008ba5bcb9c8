"""``contend fabric engines`` from outside: every engine, the tables that run, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contend
from contend.congestion import simulate
from contend.cure import each_engine
from contend.routes import save
from typed_commands import Printed, Typed

Engines = Callable[..., tuple[dict[str, dict[str, object]], Printed]]


@pytest.fixture
def engines(tmp_path: Path, typed: Typed) -> Engines:
    """`engines(arguments)` gives the JSON of each by its name, and what was printed."""

    def call(*arguments: str | Path, status: int = 0) -> tuple[Any, Printed]:
        result = tmp_path / "result.json"
        printed = typed("fabric engines", *arguments, "--json", result, status=status)
        told = json.loads(result.read_text())["engines"]
        return {one["engine"]: one for one in told}, printed

    return call


def test_engines_stand_beside_what_runs(
    tmp_path: Path, engines: Engines, require_program: Callable[[str], str]
) -> None:
    require_program("opensm")
    tables, figure = tmp_path / "net.lfts", tmp_path / "net.svg"
    fabric = contend.load("torus:4x4;2", route="minhop")
    save(fabric, tables, "lfts")
    asked = ["contend", "dmodk", "opensm:minhop", "opensm:ftree"]
    options = [word for name in asked for word in ("--route", name)]
    found, printed = engines("torus:4x4;2", "--routes", tables, *options, "--plot", figure)
    assert list(found) == ["contend", "present", "opensm:minhop", "dmodk", "opensm:ftree"]
    said = printed.out
    assert said.startswith("contend is best for random pairs: they get 77.4 % of a link's rate, ")
    assert "; next best: the present tables with 71.8 %." in said.splitlines()[0]
    simulated = simulate(fabric, "bisect", seed=1)
    assert found["present"]["bandwidth"] == simulated.effective_bandwidth.mean
    # The real OpenSM gives LIDs of its own, so its ties fall otherwise; the rule is the same.
    assert found["opensm:minhop"]["bandwidth"] == pytest.approx(0.718, abs=0.02)
    assert found["contend"]["deadlock_free"] is True
    assert found["present"]["deadlock_free"] is False
    assert str(found["dmodk"]["refusal"]).startswith("dmodk needs a tree")
    assert "more than one root" in str(found["opensm:ftree"]["refusal"])
    assert found["dmodk"]["bandwidth"] is None
    assert figure.stat().st_size > 0


def test_present_tables_that_serve_best_are_more_than_one(tmp_path: Path, engines: Engines) -> None:
    """By its own engine the torus gets more than by minhop, which can lock up there."""
    save(contend.load("torus:4x4;2", route="contend"), tmp_path / "net.lfts", "lfts")
    tables = tmp_path / "net.lfts"
    _, printed = engines("torus:4x4;2", "--routes", tables, "--route", "minhop")
    said = printed.out.splitlines()[0]
    assert said.startswith("The present tables are best for random pairs: they get 77.4 % of a ")
    assert "rate, and the routes are free of deadlock on one lane; next best: minhop with" in said


def test_shifts_and_the_all_to_all_are_those_of_the_tables(engines: Engines) -> None:
    """Two leaves of four hosts with one cable: the fullest channel has 4 x 4 of 7 messages a port.

    The worst distance is 4, where all four messages of a leaf meet.
    """
    found, _ = engines("xgft:2;4,2;1,1", "--route", "minhop")
    assert found["minhop"]["alltoall_bound"] == pytest.approx(7 / 16)
    assert found["minhop"]["worst_shift"] == pytest.approx(1 / 4)


def test_an_all_to_all_is_bound_by_the_slowest_cable(tmp_path: Path, engines: Engines) -> None:
    """The cable between two leaves of four at a quarter of the ports' rate: 64 / 4 against 7."""
    fabric = contend.load("xgft:2;4,2;1,1")
    slow = fabric.replace(
        rates=("", "4xHDR", "1xHDR"),
        host_rate=np.full(8, 1, dtype=np.uint16),
        cable_rate=np.full(2, 2, dtype=np.uint16),
    )
    save(slow, tmp_path / "net", "ibnetdiscover")
    found, printed = engines(tmp_path / "net", "--route", "minhop")
    assert found["minhop"]["alltoall_bound"] == pytest.approx(7 / 64)
    assert found["minhop"]["worst_shift"] == pytest.approx(1 / 4)
    said = " ".join(printed.out.split())
    assert "worst shift counts all links alike, though their rates differ" in said


def test_what_would_take_long_to_count_is_left_out_and_said(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three drawings of 8 x 8 messages may be counted here: not what splits each in four."""
    monkeypatch.setattr(each_engine, "_MOST_COUNTED", 3 * 64)
    asked = [f"--route={engine}" for engine in ("minhop", "ecmp", "ecmp,flows=4")]
    found, printed = engines("xgft:2;4,2;1,2", *asked)
    assert None not in (found["ecmp"]["worst_shift"], found["ecmp"]["alltoall_bound"])
    assert found["minhop"]["worst_shift"] is not None
    drawn = found["ecmp,flows=4"]
    assert (drawn["worst_shift"], drawn["alltoall_bound"]) == (None, None)
    assert isinstance(drawn["bandwidth"], float)
    assert "left out where they would take long to count" in printed.out


def test_routes_that_are_drawn_are_drawn_less_often_where_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They come first, and their parts say how far all engines are."""
    fabric, calls = contend.load("rails:2,4,4,4"), []
    often = each_engine.engines(fabric, ["ecmp"]).engines[0]
    monkeypatch.setattr(each_engine, "_MOST_DRAWN", 1)
    found = each_engine.engines(
        fabric, ["minhop", "ecmp"], progress=lambda *call: calls.append(call)
    )
    once = next(one for one in found.engines if one.engine == "ecmp")
    for one, samples in ((often, 4), (once, 1)):
        assert one.shifts is not None
        assert one.gpu is not None
        assert one.shifts.samples == samples
        assert one.gpu.collectives[0].share == pytest.approx(1)
    assert calls[0] == (0, 2)
    assert calls == sorted(calls)
    assert {total for _, total in calls} == {2}


@pytest.mark.parametrize(
    "order", [["ecmp", "minhop", "valiant"], ["contend", "contend,lanes=8"]], ids=" ".join
)
def test_detours_and_lanes_are_most_of_the_work_on_a_dragonfly(order: list[str]) -> None:
    fabric, calls = contend.load("dragonfly:2,4,2"), []
    each_engine.engines(fabric, order, progress=lambda *call: calls.append(call))
    # The last one's part of all is told before its turn: most of what there is to do is left.
    assert calls[-1][0] == 0


def test_what_no_engine_routes_is_said(engines: Engines) -> None:
    found, printed = engines("torus:3x3;1", "--route", "dmodk", status=1)
    assert list(found) == ["dmodk"]
    assert printed.out.startswith("The engine does not route this fabric.")
    assert printed.err.endswith("no engine routes it\n")


def test_engines_are_judged_by_chosen_hosts(engines: Engines) -> None:
    """All hosts of a leaf: whatever the tables, nothing that they send crosses a cable."""
    options = ("--route", "minhop", "--hosts", "host 1,host 2,host 3,host 4")
    found, _ = engines("xgft:2;4,6;1,1", *options)
    assert found["minhop"]["bandwidth"] == 1


def test_detours_and_groups_are_in_the_verdict_of_a_dragonfly(engines: Engines) -> None:
    """What takes detours as queues tell gets more than any switch that keeps to shortest paths."""
    asked = ["contend", "spray", "adaptive", "valiant", "ugal", "spray,by=groups", "ugal,by=groups"]
    found, printed = engines("dragonfly:2,4,2", *(f"--route={engine}" for engine in asked))
    best = found["ugal,by=groups"]["bandwidth"]
    assert best == max(one["bandwidth"] for one in found.values())
    assert best > found["adaptive"]["bandwidth"] + 0.02
    said = printed.out.splitlines()[0]
    assert "on shortest paths would give at most 79.5 %" in said
    assert f"by load (ugal,by=groups) would give {100 * best:.1f} %" in said
    assert "adaptive switches would give at most" not in said


def test_groups_are_counted_first_where_there_are_groups() -> None:
    asked = each_engine.engines_for
    assert set(asked(contend.load("dragonfly:2,4,2"))) >= {"ugal,by=groups", "spray,by=groups"}
    assert not any("by=" in engine for engine in asked(contend.load("torus:4x4")))
    assert not {"ugal", "valiant", "ugal,by=groups"} & set(asked(contend.load("fattree2:8")))


def test_gpus_on_rails_get_bus_bandwidths(engines: Engines) -> None:
    """As `predict collectives` has them: hashed rings collide above the leaves of a rail."""
    fabric = "rails:2,4,2,4"
    found, printed = engines(fabric, *(f"--route={name}" for name in ("contend", "ecmp", "spray")))
    for name, one in found.items():
        expected = contend.collectives(contend.load(fabric, route=name)).gpu
        shares = [way["share"] for way in one["gpu"]["collectives"]]
        assert shares == pytest.approx([way.share for way in expected.collectives])
    assert "all-reduce" in printed.out
    said = printed.out.splitlines()[0]
    assert "GPUs in 8 servers" in said


def test_ethernet_is_told_first_what_its_switches_can_do(tmp_path: Path, engines: Engines) -> None:
    fabric = contend.load("xgft:2;4,4;1,4")
    ethernet = fabric.replace(
        rates=("", "400GbE"),
        host_rate=np.ones(fabric.hosts, dtype=np.uint16),
        cable_rate=np.ones(fabric.cables, dtype=np.uint16),
    )
    save(ethernet, tmp_path / "net.fabric", "fabric")
    asked = ("dmodk", "ecmp", "ecmp,flows=4", "spray")
    found, printed = engines(tmp_path / "net.fabric", *(f"--route={name}" for name in asked))
    assert found["dmodk"]["bandwidth"] is not None
    said = printed.out.splitlines()[0]
    assert said.startswith("Hashing over 1 and 4 queue pairs per connection gives ")
    assert "Tables, which Ethernet switches do not have, would give" in said
    rows = [name for line in printed.out.splitlines() for name in asked if f" {name} " in line]
    assert rows.index("dmodk") == len(rows) - 1
