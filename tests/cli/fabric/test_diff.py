"""``contend fabric diff`` from outside: two states of a network, their tables and bandwidth."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import contend
from contend.cli.app import run
from contend.congestion import simulate
from contend.routes import NO_PORT, ForwardingTables, save, tables_of
from typed_commands import Typed


def test_what_changed_and_what_it_did(tmp_path: Path, typed: Typed) -> None:
    old, new, figure = tmp_path / "old.fabric", tmp_path / "new.fabric", tmp_path / "it.svg"
    made = ["fabric", "make", "xgft:2;4,6;1,4", "--route", "minhop"]
    assert run([*made, "-o", str(old)]) == 0
    assert run([*made, "--remove", "10%", "--seed", "3", "-o", str(new)]) == 0
    result = tmp_path / "it.json"
    options = ["--json", str(result), "--plot", str(figure)]
    verdict = typed("fabric diff", old, new, *options).out.splitlines()[0]
    before, after = (contend.load(path) for path in (old, new))
    share = [
        f"{100 * simulate(one, 'bisect', seed=1).effective_bandwidth.mean:.1f}"
        for one in (before, after)
    ]
    said = json.loads(result.read_text())
    assert verdict == said["verdict"]
    assert verdict.startswith("Worse: 24 hosts get less in ")
    assert " 2 cables removed; " in verdict
    pairs = next(one for one in said["shares"] if one["name"] == "random pairs")
    assert pairs["outcome"] == "worse"
    assert [f"{100 * pairs[when]:.1f}" for when in ("before", "after")] == share
    assert [(one["what"], one["how"]) for one in said["changes"]] == [("cable", "removed")] * 2
    hosts = before.host_lid
    differing = (before.routes.ports[:, hosts] != after.routes.ports[:, hosts]).sum(axis=1)
    assert said["changed_entries"] == {
        f"0x{guid:016x}": count
        for guid, count in zip(before.switch_guid.tolist(), differing.tolist(), strict=True)
        if count
    }
    assert figure.stat().st_size > 0


def test_two_tables_of_one_network(tmp_path: Path, typed: Typed) -> None:
    files = []
    for engine in ("minhop", "dmodk"):
        files.append(tmp_path / f"{engine}.lfts")
        save(contend.load("chic", route=engine), files[-1], "lfts")
    routes = [word for path in files for word in ("--routes", str(path))]
    said = typed("fabric diff chic chic", *routes).out
    assert said == typed("fabric diff chic chic --route minhop --route dmodk").out
    assert said.startswith("Better: 528 hosts get more in ")
    assert "random pairs (73.9 %, 57.6 % before)" in said.splitlines()[0]
    assert ". The same hosts, switches and cables; " in said.splitlines()[0]


def test_routes_that_arrive_again_are_told_and_those_that_do_not() -> None:
    whole = contend.load("xgft:2;4,4;1,2", route="minhop")
    ports = tables_of(whole).ports.copy()
    ports[0, whole.host_lid[4]] = NO_PORT
    broken = whole.replace(routes=ForwardingTables(ports))
    assert "arrive again, 4 did not" in contend.diff(broken, whole).verdict
    lost = "4 routes between hosts that both have do not arrive, 0 before"
    assert lost in contend.diff(whole, broken).verdict


def test_lost_hosts_come_first(tmp_path: Path, typed: Typed) -> None:
    """A leaf of four hosts is off: never a gain."""
    states = [tmp_path / f"{name}.fabric" for name in ("now", "tonight")]
    save(contend.load("fig1", route="minhop"), states[0])
    save(contend.load("fig1", route="minhop", without=["leaf 2"]), states[1])
    said = typed("fabric diff", *states).out.splitlines()[0]
    assert said.startswith(("Worse: 4 hosts are gone; ", "Mixed: 4 hosts are gone; "))
    assert "the 12 hosts that both have get " in said


def test_changes_are_marked_where_they_are(tmp_path: Path, typed: Typed) -> None:
    """What is gone is marked in the earlier state; once something came, all is in the later one."""
    states = [tmp_path / f"{name}.fabric" for name in ("whole", "less", "other")]
    save(contend.load("fig1"), states[0])
    save(contend.load("fig1", without=["leaf 2:5"]), states[1])
    save(contend.load("fig1", without=["leaf 3:6"]), states[2])
    for old, new, expected in (
        (states[0], states[1], ['removed: cable switch "leaf 2" port 5']),
        (states[1], states[2], ['removed: cable switch "leaf 3" port 6', "added: cable switch"]),
    ):
        figure = tmp_path / "it.svg"
        assert run(["fabric", "diff", str(old), str(new), "--plot", str(figure)]) == 0
        drawn = unescape(figure.read_text())
        assert all(words in drawn for words in expected)
