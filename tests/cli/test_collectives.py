"""``contend predict collectives`` from outside: verdict, table, JSON, figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from typed_commands import Typed


def test_fig1_is_free_of_congestion_in_shifts(tmp_path: Path, typed: Typed) -> None:
    """15 messages of 1,000,000 bytes at 1 GB/s are 15 ms, and no shift meets itself."""
    told, drawn = tmp_path / "it.json", tmp_path / "it.svg"
    options = ["--bytes", "1000,1000000", "--json", str(told), "--plot", str(drawn)]
    out = typed("predict collectives fig1", *options).out
    said = json.loads(told.read_text())
    assert (
        out.splitlines()[0]
        == said["verdict"]
        == (
            "An all-to-all between 16 hosts takes at least 15 ms with blocks of 976.6 KiB, "
            "1 GB/s a host (100.0 % of what ports allow); every shift gets 100.0 %."
        )
    )
    assert [one["pattern"] for one in said["operations"]] == [
        *("alltoall", "shifts", "shifts", "shifts", "ring", "tree", "tree:reduce")
    ]
    at_once, tree = said["operations"][0], said["operations"][5]
    assert at_once["times"] == [
        {"bytes": 1000, "seconds": pytest.approx(15e-6)},
        {"bytes": 1_000_000, "seconds": pytest.approx(15e-3)},
    ]
    # Four rounds, one after the other.
    assert (tree["rounds"], tree["rate_Bps"]) == (4, pytest.approx(0.25e9))
    assert "broadcast by a binomial tree" in drawn.read_text()


def test_what_is_slow_is_said(typed: Typed) -> None:
    """Two leaves with one cable each: see tests/congestion/test_all_ranks.py."""
    command = ["predict", "collectives", "xgft:2;2,2;1,1", "--route", "minhop"]
    printed = typed(*command, "--bytes", "24MiB")
    assert printed.out.splitlines()[0] == (
        "An all-to-all between 4 hosts takes at least 4.03 ms with blocks of 24 MiB, 18.8 GB/s a "
        "host (75.0 % of what ports allow); shifts get 75.0 % on average; the worst, by 2, gets "
        "50.0 %."
    )


def test_packets_stand_beside_what_is_counted(tmp_path: Path, typed: Typed) -> None:
    told = tmp_path / "it.json"
    command = ["predict", "collectives", "rails:2,4,2,1", "--route", "minhop", "--json", str(told)]
    plain = typed(*command).out
    assert "packet" not in plain
    assert "packet_shares" not in json.loads(told.read_text())["operations"][0]
    out = typed(*command, "--model", "packets").out
    assert "Packet by packet, with messages of 1 MiB, all-reduce by rings gets" in out
    assert "packets, voq" in out
    said = json.loads(told.read_text())
    for one in (*said["operations"], *said["gpu"]["collectives"]):
        shares = one["packet_shares"]
        assert 0 < shares["fifo"] <= 1.001 * shares["voq"] <= 1.001 * one["share"]


def test_rounds_that_lock_up_end_with_1(typed: Typed, tmp_path: Path) -> None:
    command = ["predict", "collectives", "ring:8", "--route", "minhop", "--rate", "100Gbit"]
    told = tmp_path / "told.json"
    command += ["--json", str(told)]
    printed = typed(*command, "--model", "packets", "--queues", "fifo", status=1)
    assert "Packet by packet the network locks up in 4 of 7 operations: packets on" in printed.out
    assert "locks up in 4 of 7 operations: packets on 8 channels wait for each" in printed.err
    circle = json.loads(told.read_text())["circle"]
    assert len(circle) == 8
    assert circle[0] in printed.err


def test_options_for_packets_need_packets(typed: Typed) -> None:
    printed = typed("predict", "collectives", "fig1", "--mtu", "2KiB", status=2)
    assert "--mtu goes with --model packets" in printed.err
