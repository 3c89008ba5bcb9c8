"""`contend simulate` on single channels: who loads one, and what ports counted beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Simulate


def test_who_loads_a_channel(simulate: Simulate, tmp_path: Path) -> None:
    """Host 1 alone sends over the first uplink of its leaf when all send four places on."""
    told, drawn = tmp_path / "told.json", tmp_path / "drawn.svg"
    shift = ("fig1", "--pattern", "shift:4", "--placement", "linear")
    status, out, err = simulate(*shift, "--channel", "leaf 1:5", "--json", told, "--plot", drawn)
    assert (status, err) == (0, "")
    assert out.splitlines()[:2] == [
        'switch "leaf 1" port 5 -> switch "top 1" port 1 carries 1 message a round, from host "1" '
        'alone to host "5" alone.',
        'switch "top 1" port 1 -> switch "leaf 1" port 5 carries 1 message a round, from host "13" '
        'alone to host "1" alone.',
    ]
    assert "12 of 240 routes between hosts (5.0 %) lead there" in out
    up, _ = json.loads(told.read_text())["channels"]
    assert (up["messages_per_round"], up["routes"], up["routes_in_all"]) == (1, 12, 240)
    assert [leaf["name"] for leaf in up["to_leaves"]] == ["leaf 2", "leaf 3", "leaf 4"]
    assert [leaf["share"] for leaf in up["to_leaves"]] == [1, 0, 0]
    assert [host["routes_share"] for host in up["from_hosts"]] == [0.25] * 4
    assert "share of the routes there" in drawn.read_text()


def test_a_channel_that_this_pattern_does_not_use(simulate: Simulate) -> None:
    """No host of leaf 1 sends to another leaf where all send to their neighbour on it."""
    status, out, _ = simulate("fig1", "--pattern", "ring", "--hosts", "4", "--channel", "1")
    assert status == 0
    status, out, _ = simulate(
        *("fig1", "--pattern", "ring", "--hosts", "4", "--channel", "leaf 1:5")
    )
    assert (status, out.splitlines()[0]) == (
        0,
        'switch "leaf 1" port 5 -> switch "top 1" port 1: no route between these hosts leads '
        "there.",
    )
    status, out, _ = simulate(
        *("fig1", "--pattern", "shift:1", "--placement", "linear", "--channel", "leaf 1:7")
    )
    assert out.splitlines()[0] == (
        'switch "leaf 1" port 7 -> switch "top 2" port 1 carries nothing here; 12 of 240 routes '
        "between hosts (5.0 %) lead there."
    )


def test_no_such_channel(simulate: Simulate) -> None:
    status, out, err = simulate("fig1", "--channel", "laef 1:5")
    assert (status, out) == (2, "")
    assert err == (
        "contend: laef 1:5: fig1 has no such switch, cable (SWITCH:PORT) or host; did you mean "
        "'leaf 1'?\n"
    )


def test_what_ports_counted_beside_what_is_predicted(simulate: Simulate, tmp_path: Path) -> None:
    """All 32 channels alike but one with four times as much: 4 / 35 of all bytes, not 1 / 32."""
    counters = Path(__file__).parents[1] / "data" / "counters"
    told, drawn = tmp_path / "told.json", tmp_path / "drawn.svg"
    fig1 = (counters / "fig1.ibnetdiscover", "--route", "updn", "--pattern", "alltoall")
    files = [counters / "fig1.counters.ibqueryerrors", counters / "fig1.data.ibqueryerrors"]
    options = [word for file in files for word in ("--counters", file)]
    status, out, err = simulate(*fig1, *options, "--json", told, "--plot", drawn)
    assert (status, err) == (0, "")
    said = json.loads(told.read_text())["counters"]
    assert said["verdict"] == (
        "32 channels of 32 between switches have counters; whether alltoall puts them in the same "
        'order cannot be told, as one is the same everywhere; most now: switch "S0" port 5 -> '
        'switch "S4" port 1 with 11.4 % of all bytes, 3.66 times the 3.12 % predicted.'
    )
    assert out.splitlines()[0] == said["verdict"]
    hot = max(said["channels"], key=lambda channel: channel["share"])
    assert hot["share"] == pytest.approx(4 / 35, rel=1e-4)
    assert hot["predicted"] == 1 / 32
    assert hot["waited"] == 12000
    assert (said["ports"], said["unknown"], said["rank_correlation"]) == (64, 0, None)
    assert "share of the bytes that ports counted" in drawn.read_text()
    # The same again is what nothing was sent in between looks like.
    same = ("--counters", files[0], "--before", files[0], "--interval", "10s")
    status, out, _ = simulate(*fig1, *same)
    assert out.splitlines()[0] == (
        "The counters of 32 channels between switches say that nothing was sent."
    )


def test_readings_that_do_not_fit_together(simulate: Simulate, tmp_path: Path) -> None:
    assert simulate("fig1", "--before", "x")[2] == (
        "contend: --before and --interval go with --counters FILE, the later reading\n"
    )
    assert simulate("fig1", "--counters", "x", "--interval", "10s")[0] == 2
    file = tmp_path / "x"
    file.write_text("nothing\n")
    status, _, err = simulate("fig1", "--samples", "10", "--counters", file)
    assert status == 2
    assert err.startswith(f"contend: {file}:1: expected counters as perfquery")
