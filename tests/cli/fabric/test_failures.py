"""``contend fabric failures`` from outside: what dies, what it costs, and what ties."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contend
from contend.cli.app import run
from contend.congestion import simulate
from contend.fabric import Fabric, Names
from typed_commands import Typed


def test_every_part_dies_once(tmp_path: Path, typed: Typed) -> None:
    result, figure = tmp_path / "it.json", tmp_path / "it.svg"
    options = ["--json", str(result), "--plot", str(figure), "--samples", "100"]
    printed = typed("fabric failures xgft:2;4,6;1,4 --route minhop", *options)
    said = json.loads(result.read_text())
    alone = {one["parts"]: one for one in said["alone"]}
    # Six leaves, four switches above, a cable between each two.
    assert len(alone) == len(said["alone"]) == 6 + 4 + 24
    assert [one["hosts"] for one in said["alone"]] == [4] * 6 + [0] * 28
    assert {alone[f"top {number}"]["kinds"][0] for number in range(1, 5)} == {"switch"}
    # Without a switch above a leaf has three cables instead of four.
    for number in range(1, 5):
        one = alone[f"top {number}"]
        assert one["change"] + one["margin"] < 0
        assert one["change"] == pytest.approx(one["bandwidth"] - said["bandwidth"])
        dead = contend.load("xgft:2;4,6;1,4", route="minhop", without=[f"top {number}"])
        anew = simulate(dead, "bisect", samples=100, seed=1)
        assert one["rerouted"] == anew.effective_bandwidth.mean
        # New tables are held against new tables.
        assert one["rerouted_change"] == pytest.approx(one["rerouted"] - said["rerouted"])
    whole = contend.load("xgft:2;4,6;1,4", route="minhop")
    assert said["hosts"] == 24
    assert (
        said["rerouted"] == simulate(whole, "bisect", samples=100, seed=1).effective_bandwidth.mean
    )
    # The four switches and six cables of them are the worst: each cable dies with its switch.
    assert len(said["pairs"]) == 45 - 6
    assert not any(_with_its_switch(whole, pair["parts"]) for pair in said["pairs"])
    # Two at once cost more than one.
    assert said["pairs"][0]["change"] < said["alone"][6]["change"]
    verdict = printed.out.splitlines()[0]
    assert verdict == said["verdict"]
    assert verdict.startswith(
        "6 single failures cut hosts off; the worst, switch leaf 1, cuts off 4 hosts. "
    )
    assert verdict.endswith(". None of 34 is harmless.")
    assert figure.stat().st_size > 0


def _with_its_switch(fabric: Fabric, parts: str) -> bool:
    """Whether of two parts one is a switch and the other a cable of it."""
    ends = [
        {int(fabric.cable_from[number]), int(fabric.cable_to[number])}
        if what == "cable"
        else number
        for name in parts.split(" and ")
        for what, number in Names(fabric).find(name)
    ]
    sets = [end for end in ends if isinstance(end, set)]
    return any(end in cable for end in ends if isinstance(end, int) for cable in sets)


@pytest.mark.parametrize("route", ["minhop", "spray"])
def test_servers_that_lose_a_rail(route: str, tmp_path: Path) -> None:
    """A leaf takes a rail of its unit's servers; rails share no cable, so three quarters are left.

    Spread over both spines, each rail loses as much; static tables have rails of unequal luck.
    """
    page, result = tmp_path / "it.html", tmp_path / "it.json"
    options = ["--samples", "20", "--json", str(result), "--plot", str(page)]
    assert run(["fabric", "failures", "rails:2,4,4,2", "--route", route, *options]) == 0
    said = json.loads(result.read_text())
    alone = {one["parts"]: one for one in said["alone"]}
    for unit in (1, 2):
        for leaf in range(1, 5):
            one = alone[f"unit {unit} leaf {leaf}"]
            assert one["servers"] == [{"servers": 4, "lost": 1, "rails": 4}]
            assert 0.5 < one["still"]["before"] < 1
            after = 0.75 * one["still"]["before"]
            assert one["still"]["after"] == pytest.approx(after, rel=0 if route == "spray" else 0.1)
    assert (alone["spine 1"]["servers"], alone["spine 1"]["still"]) == ([], None)
    assert "4 servers lose 1 of 4 rails and still get" in said["verdict"]
    assert "4 servers lose 1 of 4 rails" in page.read_text()
